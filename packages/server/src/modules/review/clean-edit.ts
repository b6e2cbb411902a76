import { Fault } from '../../platform/fault.ts';
import { type DraftContent, findDraft } from '../drafts/index.ts';
import { cleanEdited, type Renderer } from '../rendering/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** `before`: the hash of the content that the edit was cleaned against. */
export type CleanedEdit = { content: DraftContent; before: string };

/** No email is longer. A longer page is rejected before anything parses it. */
const PAGE_MAX_CHARS = 500_000;

/**
 * Cleans the HTML page that a member edited; returns null if nothing needs cleaning. It runs outside the transaction that writes the page,
 * because the page determines how long this takes.
 */
export async function cleanEdit(
  { db, renderer }: { db: Tx; renderer: Renderer },
  { projectId, draftId }: { projectId: number; draftId: string },
  edited: DraftContent,
): Promise<CleanedEdit | null> {
  const found = await findDraft(db, projectId, draftId);
  if (!found) return null;
  const { content: before, contentHash } = found.draft;
  if (before.format !== 'html' || edited.format !== 'html') {
    // Only the format is checked.
    await cleanEdited(before, edited);
    return null;
  }
  if (edited.body.length > PAGE_MAX_CHARS) {
    const message = `body: it has ${edited.body.length.toLocaleString('en-US')} characters, which is too long for an email`;
    throw new Fault('validation_failed', { details: [{ message, field: 'body' }] });
  }
  const content = await renderer.run('cleanEdited', { before, edited }, { projectId });
  return { content, before: contentHash };
}
