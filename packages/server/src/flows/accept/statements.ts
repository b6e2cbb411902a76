import type { Query } from '../../io/db/index.ts';
import { encodePart } from '../../features/inbox/index.ts';
import type { Entry, Lane } from './entry.ts';

/** `BEGIN`, bounds on how long we may hold the locks, and the locks; a row for each project that has a lane. */
export function lockStatement(projects: number[]): string {
  // Numbers of our own, checked to be integers: safe inside the text, which is what makes this one message.
  const list = projects.filter(Number.isSafeInteger).join(',');
  return `BEGIN; SET LOCAL idle_in_transaction_session_timeout = '2s'; SET LOCAL statement_timeout = '4s';
    SELECT 1 FROM beckon.lane WHERE project_id IN (${list}) ORDER BY project_id FOR UPDATE`;
}

/** What became of the entries, counted from 1. The lists are only filled where not all were stored. */
export type Stored = {
  all_stored: boolean;
  is_full: boolean;
  waiting: number;
  live: string[];
  taken: number[];
};

/**
 * A chunk is what one project's entries of one kind have in common: their records in the order of arrival. A part that
 * came packed is a chunk of its own. Users go before events; all of them arrived together, so either order is right.
 */
const STORE = `
WITH live AS MATERIALIZED (
  SELECT k.n, k.id FROM unnest($1::bigint[], $2::text[], $3::uuid[]) WITH ORDINALITY AS k(project_id, last4, id, n)
  JOIN beckon.api_key a ON a.last4 = k.last4 AND a.id = k.id
  JOIN beckon.project p ON p.project_id = k.project_id
  WHERE a.revoked_at IS NULL AND p.suspended_at IS NULL
), lane AS MATERIALIZED (
  SELECT l.project_id, l.next_seq, l.waiting FROM beckon.lane l WHERE l.project_id = ANY ($1::bigint[])
), gate AS MATERIALIZED (
  SELECT coalesce(max(waiting) >= $4::bigint, false) AS is_full, max(waiting) AS waiting FROM lane
), entry AS MATERIALIZED (
  SELECT e.*, CASE WHEN e.keyed THEN substring($5::bytea, e.at::int * 48 - 47, 16) END AS key
  FROM unnest($6::bigint[], $7::int[], $8::boolean[], $9::smallint[], $10::int[], $11::int[], $12::text[], $13::int[], $14::boolean[],
              $15::int[], $16::int[]) WITH ORDINALITY
       AS e(project_id, key_n, keyed, status, reply_from, reply_bytes, kind, records, packed, part_from, part_bytes, at)
  JOIN live ON live.n = e.key_n
  WHERE NOT (SELECT is_full FROM gate)
), won AS (
  INSERT INTO beckon.idempotency AS i (project_id, key, fingerprint, status, body, accepted_at)
  SELECT project_id, key, substring($5, at::int * 48 - 31, 32), status,
         CASE WHEN reply_bytes > 0 THEN substring($17::bytea, reply_from, reply_bytes) END, $19::timestamptz
  FROM entry WHERE keyed ORDER BY project_id, key
  ON CONFLICT (project_id, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body, accepted_at = excluded.accepted_at
    WHERE i.accepted_at <= $20::timestamptz
  RETURNING i.project_id, i.key
), taken AS MATERIALIZED (
  SELECT e.* FROM entry e LEFT JOIN won w ON w.project_id = e.project_id AND w.key = e.key
  WHERE NOT e.keyed OR w.key IS NOT NULL
), chunk AS MATERIALIZED (
  SELECT project_id, kind, records, body, sum(records) OVER (PARTITION BY project_id ORDER BY kind DESC, at) - records AS before
  FROM (
    SELECT project_id, kind, min(at) AS at, sum(records) AS records,
           CASE WHEN packed THEN string_agg(part, '') ELSE '['::bytea || string_agg(part, ',' ORDER BY at) || ']'::bytea END AS body
    FROM (SELECT t.*, substring($18::bytea, part_from, part_bytes) AS part FROM taken t WHERE records > 0) p
    GROUP BY project_id, kind, packed, CASE WHEN packed THEN at END
  ) c
), stored AS (
  INSERT INTO beckon.inbox (project_id, seq, lane, kind, records, body, accepted_at)
  SELECT c.project_id, lane.next_seq + c.before, $21, c.kind, c.records, c.body, $19
  FROM chunk c JOIN lane ON lane.project_id = c.project_id
), moved AS (
  UPDATE beckon.lane AS l SET next_seq = l.next_seq + m.records, waiting = l.waiting + m.records
  FROM (SELECT project_id, sum(records) AS records FROM chunk GROUP BY project_id) AS m
  WHERE l.project_id = m.project_id
), result AS (
  SELECT (SELECT count(*) FROM taken) = cardinality($6::bigint[]) AS all_stored, is_full, waiting FROM gate
)
SELECT all_stored, is_full, waiting,
       CASE WHEN all_stored THEN '{}' ELSE ARRAY(SELECT id::text FROM live) END AS live,
       CASE WHEN all_stored THEN '{}' ELSE ARRAY(SELECT at::int FROM taken) END AS taken
FROM result`;

export type Store = {
  entries: Entry[];
  lane: Lane;
  at: Date;
  /** Answers accepted until then are forgotten. */
  cutoff: Date;
  /** The queue gate; null where it does not apply. */
  waitingBelow: number | null;
};

export function storeStatement({ entries, lane, at, cutoff, waitingBelow }: Store): Query {
  const keys = new Map<string, { n: number; key: Entry['key'] }>();
  for (const { key } of entries) if (!keys.has(key.id)) keys.set(key.id, { n: keys.size + 1, key });
  const distinct = [...keys.values()].map(({ key }) => key);
  const parts = entries.map((entry) => encodePart(entry.parts));
  const partBytes = pack(parts.map((part) => part.bytes));
  const replies = pack(entries.map((entry) => entry.reply.body ?? ''));
  const values = [
    list(distinct.map((key) => key.projectId)),
    list(distinct.map((key) => `"${key.last4}"`)),
    list(distinct.map((key) => key.id)),
    waitingBelow,
    onces(entries),
    list(entries.map((entry) => entry.key.projectId)),
    list(entries.map((entry) => keys.get(entry.key.id)?.n ?? 0)),
    list(entries.map((entry) => entry.once !== null)),
    list(entries.map((entry) => entry.reply.status)),
    list(replies.from),
    list(replies.lengths),
    list(entries.map((entry) => entry.kind)),
    list(entries.map((entry) => entry.records)),
    list(parts.map((part) => part.packed)),
    list(partBytes.from),
    list(partBytes.lengths),
    replies.bytes,
    partBytes.bytes,
    at,
    cutoff,
    lane,
  ];
  return { name: 'accept.store', text: STORE, values };
}

const KEY_BYTES = 16;
const FINGERPRINT_BYTES = 32;
const ONCE_BYTES = KEY_BYTES + FINGERPRINT_BYTES;

/** Key and fingerprint of each entry in a place of fixed size; that of an entry without a key is never read. */
function onces(entries: Entry[]): Buffer {
  const bytes = Buffer.alloc(entries.length * ONCE_BYTES);
  for (const [i, { once }] of entries.entries()) {
    once?.key.copy(bytes, i * ONCE_BYTES);
    once?.fingerprint.copy(bytes, i * ONCE_BYTES + KEY_BYTES);
  }
  return bytes;
}

/** All pieces in one blob; where each begins, counted from 1 as SQL does, and how long it is. */
function pack(pieces: (string | Buffer)[]): { bytes: Buffer; from: number[]; lengths: number[] } {
  const lengths = pieces.map((piece) => Buffer.byteLength(piece));
  const bytes = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + length, 0));
  const from: number[] = [];
  let at = 0;
  for (const [i, piece] of pieces.entries()) {
    from.push(at + 1);
    if (typeof piece === 'string') bytes.write(piece, at);
    else piece.copy(bytes, at);
    at += lengths[i] ?? 0;
  }
  return { bytes, from, lengths };
}

/**
 * Lists travel as text made here, and all bytes as one binary blob cut by offset in SQL: node-postgres would escape
 * every array element and turn bytes into twice as many hex digits, which cost more than the statement.
 */
function list(values: (number | string | boolean)[]): string {
  return `{${values.join(',')}}`;
}
