import type { EmailSource } from '@beckon/contract/dashboard';
import { refused, type TemplateSource } from '../rendering/index.ts';
import {
  deleteUnpublishedRow,
  deletePreviewsBefore,
  insertPreview,
  listUnpublishedRows,
  type UnpublishedRow,
  writeUnpublished,
} from './store.ts';
import { type KitDeps, readMoment } from '../workspace/index.ts';
import { sha256 } from '../../platform/crypto/hash.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { Fault } from '../../platform/fault.ts';
import { canonicalJson } from '../../platform/text/canonical-json.ts';
import type { Clock } from '../../platform/time/clock.ts';

/** The saved unpublished version of a template. No email uses it. */
export type UnpublishedEmail = TemplateSource & { name: string; savedAt: number; savedBy: string };

type OfProject = { tx: Tx; clock: Clock; projectId: number };

const BODY_MAX_CHARS = 500_000;
const LINE_MAX_CHARS = 1_000;

/** `seen`: `savedAt` of the unpublished version that is replaced. Null if there was none. */
type SaveUnpublishedInput = { name: string; email: TemplateSource; seen: number | null; actor: string };

/**
 * Saves the unpublished version of a template. Its text need not be publishable, but its length is limited. Returns the version
 * it replaces, and fails with a conflict if that is not the one in `seen`.
 */
export async function saveUnpublished(
  { tx, clock, projectId }: OfProject,
  { name, email, seen, actor }: SaveUnpublishedInput,
): Promise<UnpublishedEmail | null> {
  const { format, subject, preheader, body } = email;
  for (const [field, text] of Object.entries({ subject, preheader, body })) {
    const most = field === 'body' ? BODY_MAX_CHARS : LINE_MAX_CHARS;
    if (text.length > most || text.includes('\0') || !text.isWellFormed())
      throw refused([{ message: `${field} must be a string of at most ${most} characters`, field }]);
  }
  const [saved_at, saved_by] = [new Date(clock.now()), actor];
  const before = (await listUnpublished(tx, projectId)).get(name) ?? null;
  const row = { project_id: projectId, name, format, subject, preheader, body, saved_at, saved_by };
  if (!(await writeUnpublished(tx, row, seen === null ? null : new Date(seen)))) throw savedByOther(name);
  return before;
}

function savedByOther(name: string): Fault {
  const message = `The unpublished version of the template ${JSON.stringify(name)} changed since you loaded it. Load it again`;
  return new Fault('conflict', { details: [{ message, field: 'seen' }] });
}

/** Deletes the unpublished version. With `seen`: only if it was saved at that time. */
export function discardUnpublished(
  tx: Tx,
  { projectId, name, seen }: { projectId: number; name: string; seen?: number },
): Promise<void> {
  return deleteUnpublishedRow(tx, { projectId, name, savedAt: seen === undefined ? null : new Date(seen) });
}

/** Lists the unpublished versions by name. */
export async function listUnpublished(tx: Tx, projectId: number): Promise<Map<string, UnpublishedEmail>> {
  return new Map((await listUnpublishedRows(tx, projectId)).map((row) => [row.name, toUnpublished(row)]));
}

function toUnpublished({ saved_at, saved_by, ...row }: UnpublishedRow): UnpublishedEmail {
  const { name, format, subject, preheader, body } = row;
  return { name, format, subject, preheader, body, savedAt: saved_at.getTime(), savedBy: saved_by };
}

const WORDS_KEPT_MS = 86_400_000;

/** Stores content for a day, so that a separate page can show it. Returns the id by which it is found. */
export async function savePreview(
  { tx, clock, projectId }: OfProject,
  email: TemplateSource,
): Promise<string> {
  const { format, subject, preheader, body } = email;
  const words = { format, subject, preheader, body };
  const id = sha256(canonicalJson(words)).slice(0, 32);
  await deletePreviewsBefore(tx, projectId, new Date(clock.now() - WORDS_KEPT_MS));
  await insertPreview(tx, { project_id: projectId, id, content: words, at: new Date(clock.now()) });
  return id;
}

type Deps = KitDeps;

type Db = Pick<Deps, 'db'>;

/** Returns the text that a publish request publishes, and when the unpublished version that it replaces was saved. */
export async function publishedText(
  deps: Db,
  {
    projectId,
    name,
    source,
    seen,
  }: { projectId: number; name: string; source?: EmailSource; seen?: string | null },
): Promise<{ email: EmailSource; seen: number | null }> {
  const seenAt = seen === undefined ? null : momentSeen(seen);
  if (source) return { email: source, seen: seenAt };
  const saved = await requireUnpublished(deps, projectId, name);
  return { email: wordsOf(saved), seen: seen === undefined ? saved.savedAt : seenAt };
}

type TextSource = { projectId: number; template: string; source?: EmailSource; unpublished?: true };

/** Returns the text of the request, or the saved unpublished version if the request asks for it. Null is the published version. */
export async function emailSource(
  deps: Db,
  { projectId, template, source, unpublished }: TextSource,
): Promise<EmailSource | null> {
  if (source || !unpublished) return source ?? null;
  return wordsOf(await requireUnpublished(deps, projectId, template));
}

async function requireUnpublished({ db }: Db, projectId: number, name: string): Promise<UnpublishedEmail> {
  const saved = (await listUnpublished(db, projectId)).get(name);
  if (saved) return saved;
  const message = `The template ${JSON.stringify(name)} has no unpublished version`;
  throw new Fault('not_found', { details: [{ message, field: 'template' }] });
}

export function momentSeen(seen: string | null): number | null {
  return seen === null ? null : readMoment(seen, 'seen');
}

export function wordsOf({ format, subject, preheader, body }: EmailSource): EmailSource {
  return { format, subject, preheader, body };
}
