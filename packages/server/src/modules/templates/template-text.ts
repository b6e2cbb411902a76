import type { LetterSource } from '@beckon/contract/dashboard';
import { Fault } from '../../platform/fault.ts';
import { listUnpublished, type UnpublishedLetter } from './unpublished.ts';
import { readMoment, type KitDeps } from '../workspace/index.ts';

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
  }: { projectId: number; name: string; source?: LetterSource; seen?: string | null },
): Promise<{ letter: LetterSource; seen: number | null }> {
  const given = seen === undefined ? null : momentSeen(seen);
  if (source) return { letter: source, seen: given };
  const saved = await requireUnpublished(deps, projectId, name);
  return { letter: wordsOf(saved), seen: seen === undefined ? saved.savedAt : given };
}

type Written = { projectId: number; template: string; source?: LetterSource; unpublished?: true };

/** Returns the text of the request, or the saved unpublished version if the request asks for it. Null is the published version. */
export async function letterOf(
  deps: Db,
  { projectId, template, source, unpublished }: Written,
): Promise<LetterSource | null> {
  if (source || !unpublished) return source ?? null;
  return wordsOf(await requireUnpublished(deps, projectId, template));
}

async function requireUnpublished({ db }: Db, projectId: number, name: string): Promise<UnpublishedLetter> {
  const saved = (await listUnpublished(db, projectId)).get(name);
  if (saved) return saved;
  const message = `The template ${JSON.stringify(name)} has no unpublished version`;
  throw new Fault('not_found', { details: [{ message, field: 'template' }] });
}

export function momentSeen(seen: string | null): number | null {
  return seen === null ? null : readMoment(seen, 'seen');
}

export function wordsOf({ format, subject, preheader, body }: LetterSource): LetterSource {
  return { format, subject, preheader, body };
}
