import { csvLine } from '@beckon/contract/files';
import { iso } from '../../platform/time/clock.ts';
import type { Filter } from '../../platform/filter/filter.ts';
import { loadModels } from '../audiences/index.ts';
import { countFiltered, type ListedPerson, listFiltered } from './list-filtered.ts';
import { findPeople, type Person } from '../users/index.ts';
import type { Listening } from './user-filter.ts';
import type { Tx } from '../../platform/db/statements.ts';

type Asked = { projectId: number; filter: Filter };

/** Returns a page of the users that match the filter, in order of their ids, and their number up to a limit. */
export async function listUsers(
  tx: Tx,
  {
    projectId,
    filter,
    after,
    rowsMax,
    most,
  }: Asked & { after: string | null; rowsMax: number; most: number },
): Promise<{ rows: ListedPerson[]; total: number }> {
  const audiences = await listening(tx, projectId, filter);
  const rows = await listFiltered(tx, { projectId, filter, audiences, after, limit: rowsMax });
  // If all of them fit on the first page, they are already counted.
  const isWhole = after === null && rows.length < rowsMax;
  const total = isWhole ? rows.length : await countFiltered(tx, { projectId, filter, audiences, upTo: most });
  return { rows, total };
}

/** Returns the editions that a filter may name, if it names any. */
async function listening(tx: Tx, projectId: number, { terms }: Filter): Promise<Listening> {
  if (!terms.some(({ key }) => key === 'audience')) return [];
  const model = (await loadModels(tx, [projectId])).get(projectId);
  return (model?.editions ?? [])
    .filter(({ audienceId, edition }) => model?.editionFor(audienceId)?.edition === edition)
    .map(({ audienceId, name, edition }) => ({ id: audienceId, name, edition }));
}

const COLUMNS = ['external_user_id', 'email', 'first_seen_at', 'last_seen_at', 'traits'];
const PAGE = 500;

/**
 * Yields all users that match the filter as lines of CSV, page by page. Traits are one JSON value, because their names are not known in
 * advance.
 */
export async function* exportUsers(
  tx: Tx,
  { projectId, filter, cell }: Asked & { cell: (value: string) => string },
): AsyncGenerator<string, void, void> {
  const audiences = await listening(tx, projectId, filter);
  yield `${csvLine(COLUMNS)}\n`;
  let after: string | null = null;
  do {
    const page: ListedPerson[] = await listFiltered(tx, { projectId, filter, audiences, after, limit: PAGE });
    const whole = await findPeople(
      tx,
      page.map(({ userId }) => ({ projectId, userId })),
    );
    const byId = new Map(whole.map((person) => [person.userId, person]));
    const lines = page.flatMap(({ userId }) => {
      const person = byId.get(userId);
      return person ? [csvLine(cellsOf(person).map((value) => value && cell(value)))] : [];
    });
    if (lines.length > 0) yield `${lines.join('\n')}\n`;
    after = page.length === PAGE ? (page.at(-1)?.userId ?? null) : null;
  } while (after !== null);
}

function cellsOf({ userId, email, firstSeenAt, lastSeenAt, traits }: Person): (string | null)[] {
  return [userId, email, iso(firstSeenAt), iso(lastSeenAt), JSON.stringify(Object.fromEntries(traits))];
}
