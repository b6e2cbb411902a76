import type { DraftListed } from '@beckon/contract/dashboard';

/**
 * The page's newer knowledge of a draft than the last list from the server. `pending`: decided here, response pending; `ours`: decided here and
 * confirmed; `gone`: decided by others; `here`: the server returned this row since.
 */
export type KnownDraft = { kind: 'pending' | 'ours' | 'gone' } | { kind: 'here'; row: DraftListed };
export type KnownDrafts = ReadonlyMap<string, KnownDraft>;

/** The rows of the list with everything known since. A row that the list does not have is added at its place. */
export function withKnown(rows: DraftListed[], known: KnownDrafts): DraftListed[] {
  if (known.size === 0) return rows;
  const result = rows.flatMap((row) => rowOf(known.get(row.id) ?? { kind: 'here', row }));
  const listed = new Set(rows.map(({ id }) => id));
  for (const [id, entry] of known) {
    if (listed.has(id)) continue;
    for (const row of rowOf(entry)) {
      const at = result.findIndex((other) => isBefore(row, other));
      result.splice(at < 0 ? result.length : at, 0, row);
    }
  }
  return result;
}

/** The row once its editor is closed, which happens right after an edit was saved. */
export function withoutEditor(row: DraftListed): DraftListed {
  const closed = { ...row, lease: null };
  if (row.reason !== 'editing') return closed;
  return { ...closed, state: row.resume_state ?? 'scheduled', resume_state: null, reason: null };
}

function rowOf(entry: KnownDraft): DraftListed[] {
  return entry.kind === 'here' ? [entry.row] : [];
}

type Place = Pick<DraftListed, 'id' | 'state' | 'reason' | 'deadline_at'>;

/** The order of the server: drafts with a deadline, without one, held, postponed. */
function isBefore(a: Place, b: Place): boolean {
  const [ours, theirs] = [placeOf(a), placeOf(b)];
  const at = ours.findIndex((part, index) => part !== theirs[index]);
  return at >= 0 && (ours[at] ?? 0) < (theirs[at] ?? 0);
}

function placeOf({ id, state, reason, deadline_at: deadlineAt }: Place): [number, number, string] {
  const group = state === 'scheduled' || reason === 'editing' ? 0 : reason === 'postponed' ? 2 : 1;
  return [group, deadlineAt === null ? Infinity : Date.parse(deadlineAt), id];
}
