import { type EventOfPersonRow, listEventsBehind } from './reads.ts';
import { plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';

type Person = { projectId: number; userId: string };
export type EventOfPerson = EventOfPersonRow;

/** Every name has at least one character, so this sorts before the first. */
const START = { name: '', occurred_at: new Date(0), id: '00000000-0000-0000-0000-000000000000' };

/** Lists all events of a user page by page, by name and then by time. */
export async function* listAll(
  tx: Tx,
  { projectId, userId, pageOf }: Person & { pageOf: number },
): AsyncGenerator<EventOfPerson[], void, void> {
  let after: typeof START | undefined = START;
  while (after) {
    const page: EventOfPerson[] = await listEventsBehind(tx, { projectId, userId, after, limit: pageOf });
    yield page;
    after = page.length < pageOf ? undefined : page.at(-1);
  }
}

export type NamedEvent = { projectId: number; userId: string; name: string };

/** An event of a user in the form that rules need. Times are in milliseconds. */
export type NewestEvent = NamedEvent & {
  id: string;
  occurredAt: number;
  acceptedAt: number;
  seq: number;
  properties: Record<string, unknown>;
};

/** Finds the newest occurrence of each name, by the time it occurred. All stored events count, including imported ones. */
export async function findNewest(tx: Tx, events: NamedEvent[]): Promise<NewestEvent[]> {
  if (events.length === 0) return [];
  const rows = await tx.prepared<NewestRow>({
    name: 'events.newest_whole',
    text: `SELECT q.n::int AS n, e.* FROM unnest($1::bigint[], $2::text[], $3::text[])
             WITH ORDINALITY AS q(project_id, user_id, name, n)
           CROSS JOIN LATERAL (
             SELECT e.id, e.seq, e.properties, (extract(epoch FROM e.occurred_at) * 1000)::float8 AS occurred_ms,
               (extract(epoch FROM e.accepted_at) * 1000)::float8 AS accepted_ms
             FROM beckon.event e
             WHERE e.project_id = q.project_id AND e.external_user_id = q.user_id AND e.name = q.name
             ORDER BY e.occurred_at DESC, e.seq DESC LIMIT 1
           ) e`,
    values: [
      plainList(events.map(({ projectId }) => projectId)),
      events.map(({ userId }) => userId),
      events.map(({ name }) => name),
    ],
  });
  return rows.flatMap((row) => {
    const event = events[row.n - 1];
    if (!event) return [];
    const { id, seq, properties } = row;
    const moments = { occurredAt: Math.round(row.occurred_ms), acceptedAt: Math.round(row.accepted_ms) };
    return [{ ...event, id, seq, properties, ...moments }];
  });
}

type NewestRow = {
  n: number;
  id: string;
  seq: number;
  properties: Record<string, unknown>;
  occurred_ms: number;
  accepted_ms: number;
};
