import type { Query } from '../../io/db/index.ts';
import type { Entry } from './entry.ts';
import type { Chunk } from './flush.ts';

/**
 * Lists travel as text (`{1,2,3}`) made here, and all bytes as one binary blob cut by offset in SQL: node-postgres
 * would escape every array element and turn bytes into twice as many hex digits, which cost more than the statement.
 */

/** `clean`: every API key is live and every Idempotency-Key was won, so everything is stored. Otherwise the two lists. */
export type StoreOutcome = { clean: boolean; live: string[] | null; won: string[] | null };

const STORE = `
WITH live AS MATERIALIZED (
  SELECT k.n, k.id FROM unnest($1::bigint[], $2::text[], $3::uuid[]) WITH ORDINALITY AS k(project_id, last4, id, n)
  JOIN beckon.api_key a ON a.last4 = k.last4 AND a.id = k.id
  JOIN beckon.project p ON p.project_id = k.project_id
  WHERE a.revoked_at IS NULL AND p.suspended_at IS NULL
), won AS (
  INSERT INTO beckon.idempotency AS i (project_id, key, fingerprint, status, body, accepted_at)
  SELECT r.project_id, substring($4::bytea, (r.at * 48 - 47)::int, 16), substring($4, (r.at * 48 - 31)::int, 32), r.status,
         CASE WHEN r.body_bytes > 0 THEN substring($5::bytea, r.body_from, r.body_bytes) END, $6::timestamptz
  FROM unnest($8::bigint[], $9::int[], $10::smallint[], $11::int[], $12::int[]) WITH ORDINALITY
       AS r(project_id, key_n, status, body_from, body_bytes, at)
  JOIN live ON live.n = r.key_n
  ON CONFLICT (project_id, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body, accepted_at = excluded.accepted_at
    WHERE i.accepted_at <= $7
  RETURNING i.project_id, i.key
), clean AS MATERIALIZED (
  SELECT (SELECT count(*) FROM live) = cardinality($1::bigint[]) AND (SELECT count(*) FROM won) = cardinality($8::bigint[]) AS yes
), chunk AS MATERIALIZED (
  SELECT c.* FROM unnest($13::bigint[], $14::bigint[], $15::text[], $16::text[], $17::int[], $18::int[], $19::int[])
       AS c(project_id, seq, lane, kind, records, body_from, body_bytes)
  WHERE (SELECT yes FROM clean)
), stored AS (
  INSERT INTO beckon.inbox (project_id, seq, lane, kind, records, body, accepted_at)
  SELECT project_id, seq, lane, kind, records, substring($20::bytea, body_from, body_bytes), $6 FROM chunk
), moved AS (
  UPDATE beckon.lane AS l SET next_seq = l.next_seq + m.records, waiting = l.waiting + m.records
  FROM (SELECT project_id, sum(records) AS records FROM chunk GROUP BY project_id) AS m
  WHERE l.project_id = m.project_id
)
SELECT yes AS clean,
       CASE WHEN NOT yes THEN ARRAY(SELECT id::text FROM live) END AS live,
       CASE WHEN NOT yes THEN ARRAY(SELECT project_id || ' ' || encode(key, 'hex') FROM won) END AS won
FROM clean`;

const CHUNKS = `
WITH chunk AS MATERIALIZED (
  SELECT c.* FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::int[], $7::int[], $8::int[])
       AS c(project_id, seq, lane, kind, records, body_from, body_bytes)
), stored AS (
  INSERT INTO beckon.inbox (project_id, seq, lane, kind, records, body, accepted_at)
  SELECT project_id, seq, lane, kind, records, substring($9::bytea, body_from, body_bytes), $1::timestamptz FROM chunk
)
UPDATE beckon.lane AS l SET next_seq = l.next_seq + m.records, waiting = l.waiting + m.records
FROM (SELECT project_id, sum(records) AS records FROM chunk GROUP BY project_id) AS m
WHERE l.project_id = m.project_id`;

export function storeStatement(what: { entries: Entry[]; chunks: Chunk[]; at: Date; cutoff: Date }): Query {
  const keys = new Map<string, { n: number; key: Entry['key'] }>();
  for (const { key } of what.entries) if (!keys.has(key.id)) keys.set(key.id, { n: keys.size + 1, key });
  const distinct = [...keys.values()].map(({ key }) => key);
  const values = [
    list(distinct.map((key) => key.projectId)),
    texts(distinct.map((key) => key.last4)),
    texts(distinct.map((key) => key.id)),
    ...keyedValues(what, (entry) => keys.get(entry.key.id)?.n ?? 0),
    ...chunkValues(what.chunks),
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
    list(chunks.map((chunk) => chunk.seq)),
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
