import type { EmailsSentAgain } from '@beckon/contract/dashboard';
import { createModels } from '../../rules/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { Database } from '../../../platform/db/database.ts';
import { Fault } from '../../../platform/fault.ts';
import { type MoveDeps, moveDraft } from '../move-draft.ts';

type EmailSelection = { projectId: number; emails: string[]; actor: string };

const UNKNOWN = 'The email is no longer stored';

/**
 * Creates a new draft for each of these emails, as one action for each draft would. An email that may have arrived already is refused,
 * because a member has to confirm it individually.
 */
export async function sendManyAgain(
  deps: Omit<MoveDeps, 'models'> & { db: Database },
  { projectId, emails, actor }: EmailSelection,
): Promise<EmailsSentAgain> {
  const ids = [...new Set(emails)];
  const drafts = await findDraftIds(deps.db, projectId, ids);
  const shared = { ...deps, models: createModels(deps.db.clock) };
  const refusals = new Map<string, number>();
  const refuse = (message: string, rows: number): void => {
    if (rows > 0) refusals.set(message, (refusals.get(message) ?? 0) + rows);
  };
  refuse(UNKNOWN, ids.length - drafts.length);
  let sent = 0;
  for (const draftId of drafts)
    try {
      await moveDraft(shared, { projectId, draftId }, { act: { kind: 'send_again' }, by: { actor } });
      sent += 1;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      refuse(error.message.replace(/, as the draft .*$/, ''), 1);
    }
  const refused = [...refusals].map(([message, rows]) => ({ message, rows }));
  return { sent_again: sent, refused: refused.toSorted((a, b) => b.rows - a.rows) };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Reads the table `email` of the module `sending`. */
async function findDraftIds(tx: Tx, projectId: number, ids: string[]): Promise<string[]> {
  const rows = await tx.query<{ draft_id: string }>(
    `SELECT draft_id FROM beckon.email WHERE project_id = $1 AND id = ANY ($2::uuid[]) ORDER BY claimed_at, id`,
    [projectId, ids.filter((id) => UUID.test(id))],
  );
  return rows.map(({ draft_id: id }) => id);
}
