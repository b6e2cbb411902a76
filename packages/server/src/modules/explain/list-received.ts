import type { Tx } from '../../platform/db/statements.ts';

/** A stored event with the time of its storage. Times are in milliseconds. */
export type ReceivedEvent = {
  id: string;
  userId: string;
  name: string;
  properties: Record<string, unknown>;
  occurredAt: number;
  acceptedAt: number;
  receivedAt: number;
  seq: number;
};

export type ReceivedPage = {
  projectId: number;
  names: string[];
  /** The range of receive times: from `from` on and before `until`. */
  from: number;
  until: number;
  /** The maximum number of events of any name to read. Events of one millisecond stay together. */
  looksAt: number;
};

/**
 * Lists events of these names in the order of receipt. They are searched among all events of that time, so a page is limited by the number
 * of events read. `upTo` is the start of the next page.
 */
export async function listReceived(
  tx: Tx,
  page: ReceivedPage,
): Promise<{ events: ReceivedEvent[]; upTo: number }> {
  const upTo = await findPageEnd(tx, page);
  const rows = await tx.query<Row>(
    `SELECT id, external_user_id, name, properties, seq, (extract(epoch FROM occurred_at) * 1000)::float8 AS occurred_ms,
       (extract(epoch FROM accepted_at) * 1000)::float8 AS accepted_ms, (extract(epoch FROM received_at) * 1000)::float8 AS received_ms
     FROM beckon.event
     WHERE project_id = $1 AND received_at >= $2 AND received_at < $3 AND name = ANY ($4::text[])
     ORDER BY received_at, seq`,
    [page.projectId, new Date(page.from), new Date(upTo), page.names],
  );
  return { events: rows.map(toEvent), upTo };
}

async function findPageEnd(tx: Tx, { projectId, from, until, looksAt }: ReceivedPage): Promise<number> {
  const rows = await tx.query<{ at: number }>(
    `SELECT (extract(epoch FROM received_at) * 1000)::float8 AS at FROM beckon.event
     WHERE project_id = $1 AND received_at >= $2 AND received_at < $3
     ORDER BY received_at OFFSET $4::int - 1 LIMIT 1`,
    [projectId, new Date(from), new Date(until), looksAt],
  );
  const [last] = rows;
  return last ? Math.min(Math.floor(last.at) + 1, until) : until;
}

type Row = {
  id: string;
  external_user_id: string;
  name: string;
  properties: Record<string, unknown>;
  seq: number;
  occurred_ms: number;
  accepted_ms: number;
  received_ms: number;
};

function toEvent(row: Row): ReceivedEvent {
  const { id, name, properties, seq } = row;
  return {
    id,
    name,
    properties,
    seq,
    userId: row.external_user_id,
    occurredAt: Math.round(row.occurred_ms),
    acceptedAt: Math.round(row.accepted_ms),
    receivedAt: Math.ceil(row.received_ms),
  };
}
