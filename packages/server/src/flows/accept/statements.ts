import type { Query } from '../../io/db/index.ts';
import type { Entry } from './entry.ts';
import type { Chunk } from './flush.ts';

/**
 * Lists travel as text (`{1,2,3}`) made here, and all bytes as one binary blob cut by offset in SQL: node-postgres
 * would escape every array element and turn bytes into twice as many hex digits, which cost more than the statement.
 */

/**
 * `waiting`: the fullest lane, before this. `clean`: every API key is live, every Idempotency-Key was won and no lane is
 * over the cap, so everything is stored. Otherwise the lists say who is live and who won.
 */
export type StoreOutcome = { clean: boolean; waiting: number; live: string[] | null; won: string[] | null };

/** Read under the lanes' locks, so that what a lane says is still so: chunks go where it ends. */
function chunksFrom(first: number, { at, when }: { at: string; when: string }): string {
  const [project, offset, lane, kind, records, from, bytes, blob] = Array.from(
    { length: 8 },
    (_, i) => `$${first + i}`,
  );
  return `chunk AS MATERIALIZED (
  SELECT c.* FROM unnest(${project}::bigint[], ${offset}::int[], ${lane}::text[], ${kind}::text[], ${records}::int[], ${from}::int[], ${bytes}::int[])
       AS c(project_id, seq_offset, lane, kind, records, body_from, body_bytes)
  ${when}
), stored AS (
  INSERT INTO beckon.inbox (project_id, seq, lane, kind, records, body, accepted_at)
  SELECT c.project_id, lane.next_seq + c.seq_offset, c.lane, c.kind, c.records, substring(${blob}::bytea, c.body_from, c.body_bytes), ${at}::timestamptz
  FROM chunk c JOIN lane ON lane.project_id = c.project_id
)`;
}

const MOVE_LANES = `
  UPDATE beckon.lane AS l SET next_seq = l.next_seq + m.records, waiting = l.waiting + m.records
  FROM (SELECT project_id, sum(records) AS records FROM chunk GROUP BY project_id) AS m
  WHERE l.project_id = m.project_id`;

const STORE = `
WITH live AS MATERIALIZED (
  SELECT k.n, k.id FROM unnest($1::bigint[], $2::text[], $3::uuid[]) WITH ORDINALITY AS k(project_id, last4, id, n)
  JOIN beckon.api_key a ON a.last4 = k.last4 AND a.id = k.id
  JOIN beckon.project p ON p.project_id = k.project_id
  WHERE a.revoked_at IS NULL AND p.suspended_at IS NULL
), lane AS MATERIALIZED (
  SELECT l.project_id, l.next_seq, l.waiting FROM beckon.lane l WHERE l.project_id = ANY ($1::bigint[])
), gate AS MATERIALIZED (
  SELECT max(waiting) AS waiting, coalesce(max(waiting) < $21::bigint, true) AS open FROM lane
), won AS (
  INSERT INTO beckon.idempotency AS i (project_id, key, fingerprint, status, body, accepted_at)
  SELECT r.project_id, substring($4::bytea, (r.at * 48 - 47)::int, 16), substring($4, (r.at * 48 - 31)::int, 32), r.status,
         CASE WHEN r.body_bytes > 0 THEN substring($5::bytea, r.body_from, r.body_bytes) END, $6::timestamptz
  FROM unnest($8::bigint[], $9::int[], $10::smallint[], $11::int[], $12::int[]) WITH ORDINALITY
       AS r(project_id, key_n, status, body_from, body_bytes, at)
  JOIN live ON live.n = r.key_n
  WHERE (SELECT open FROM gate)
  ON CONFLICT (project_id, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body, accepted_at = excluded.accepted_at
    WHERE i.accepted_at <= $7
  RETURNING i.project_id, i.key
), clean AS MATERIALIZED (
  SELECT open AND (SELECT count(*) FROM live) = cardinality($1::bigint[])
              AND (SELECT count(*) FROM won) = cardinality($8::bigint[]) AS yes FROM gate
), ${chunksFrom(13, { at: '$6', when: 'WHERE (SELECT yes FROM clean)' })}, moved AS (${MOVE_LANES})
SELECT yes AS clean, waiting,
       CASE WHEN NOT yes THEN ARRAY(SELECT id::text FROM live) END AS live,
       CASE WHEN NOT yes THEN ARRAY(SELECT project_id || ' ' || encode(key, 'hex') FROM won) END AS won
FROM clean, gate`;

const CHUNKS = `
WITH lane AS MATERIALIZED (
  SELECT l.project_id, l.next_seq FROM beckon.lane l WHERE l.project_id = ANY ($2::bigint[])
), ${chunksFrom(2, { at: '$1', when: '' })}
${MOVE_LANES}`;

export type Store = {
  entries: Entry[];
  chunks: Chunk[];
  at: Date;
  cutoff: Date;
  /** The queue gate; null where it does not apply. */
  waitingBelow: number | null;
};

export function storeStatement(what: Store): Query {
  const keys = new Map<string, { n: number; key: Entry['key'] }>();
  for (const { key } of what.entries) if (!keys.has(key.id)) keys.set(key.id, { n: keys.size + 1, key });
  const distinct = [...keys.values()].map(({ key }) => key);
  const values = [
    list(distinct.map((key) => key.projectId)),
    texts(distinct.map((key) => key.last4)),
    texts(distinct.map((key) => key.id)),
    ...keyedValues(what, (entry) => keys.get(entry.key.id)?.n ?? 0),
    ...chunkValues(what.chunks),
    what.waitingBelow,
  ];
  return { name: 'accept.store', text: STORE, values };
}

export function chunkStatement(chunks: Chunk[], at: Date): Query {
  return { name: 'accept.chunks', text: CHUNKS, values: [at, ...chunkValues(chunks)] };
}

/** Rows go in by (project, key), so that neighbours in the index are written together. */
function keyedValues(
  what: { entries: Entry[]; at: Date; cutoff: Date },
  keyNumber: (entry: Entry) => number,
): unknown[] {
  const rows = what.entries.flatMap((entry) => (entry.once ? [{ entry, once: entry.once }] : []));
  rows.sort((a, b) => a.entry.key.projectId - b.entry.key.projectId || a.once.key.compare(b.once.key));
  const bodies = pack(
    rows.map(({ entry }) => (entry.reply.body === null ? EMPTY : Buffer.from(entry.reply.body))),
  );
  return [
    Buffer.concat(rows.flatMap(({ once }) => [once.key, once.fingerprint])),
    bodies.bytes,
    what.at,
    what.cutoff,
    list(rows.map(({ entry }) => entry.key.projectId)),
    list(rows.map(({ entry }) => keyNumber(entry))),
    list(rows.map(({ entry }) => entry.reply.status)),
    list(bodies.from),
    list(bodies.lengths),
  ];
}

function chunkValues(chunks: Chunk[]): unknown[] {
  const bodies = pack(chunks.map((chunk) => chunk.body));
  return [
    list(chunks.map((chunk) => chunk.projectId)),
    list(chunks.map((chunk) => chunk.seqOffset)),
    list(chunks.map((chunk) => chunk.lane)),
    list(chunks.map((chunk) => chunk.kind)),
    list(chunks.map((chunk) => chunk.records)),
    list(bodies.from),
    list(bodies.lengths),
    bodies.bytes,
  ];
}

const EMPTY = Buffer.alloc(0);

/** Where each piece begins, counted from 1 as SQL does, and how long it is. */
function pack(pieces: Buffer[]): { bytes: Buffer; from: number[]; lengths: number[] } {
  const from: number[] = [];
  let next = 1;
  for (const piece of pieces) {
    from.push(next);
    next += piece.length;
  }
  return {
    bytes: pieces.length === 1 ? (pieces[0] ?? EMPTY) : Buffer.concat(pieces),
    from,
    lengths: pieces.map((piece) => piece.length),
  };
}

/** For numbers and for words of our own, which need no quotes. */
function list(values: (number | string)[]): string {
  return `{${values.join(',')}}`;
}

function texts(values: string[]): string {
  return `{${values.map((value) => `"${value}"`).join(',')}}`;
}
