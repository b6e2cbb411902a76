import type { IngestPriority } from '../queue/chunk.ts';
import { plainList as list } from '../../../platform/db/list.ts';
import type { Query } from '../../../platform/db/statements.ts';
import type { IngestEntry } from './entry.ts';
import { layOut } from './chunks.ts';

/**
 * Returns one script with `BEGIN`, time limits for holding the locks, and the locks. The result has a row for each project with a queue
 * row. Where tables are distributed, PostgreSQL has to plan with the values, by which it finds the node.
 */
export function lockStatement(projects: number[], { isDistributed }: { isDistributed: boolean }): string {
  // The ids are our own numbers and checked to be integers, so they are safe inside the text. Without parameters the script is a single
  // protocol message.
  const list = projects.filter(Number.isSafeInteger).join(',');
  const plans = isDistributed ? '' : ' SET LOCAL plan_cache_mode = force_generic_plan;';
  return `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = '2s'; SET LOCAL statement_timeout = '4s';${plans}
    SELECT 1 FROM beckon.ingest_queue_state WHERE project_id IN (${list}) ORDER BY project_id FOR UPDATE`;
}

/** The result of a flush; entries are counted from 1. The lists are filled only if not all entries were stored. */
export type StoreResultRow = {
  all_stored: boolean;
  is_full: boolean;
  waiting: number;
  live: string[];
  accepted: number[];
};

/**
 * Almost always every API key is live and every Idempotency-Key is claimed. Then the chunks are stored as they were assembled in the
 * process (`whole`), one row each. Otherwise they are assembled from the parts of the accepted entries (`pieced`): the same bytes, cut at
 * other places. Per entry, the first way costs PostgreSQL half as much as the second.
 */
const storeText = ({ keys, isActive }: { keys: string; isActive: string }): string => `
WITH live AS MATERIALIZED (
  SELECT k.n, k.id FROM unnest($1::bigint[], $2::text[], $3::uuid[]) WITH ORDINALITY AS k(project_id, last4, id, n)${keys}
  JOIN beckon.project p ON p.project_id = k.project_id
  JOIN beckon.ingest_queue_state l ON l.project_id = k.project_id
  WHERE ${isActive}p.suspended_at IS NULL AND NOT p.is_closed
), queue AS MATERIALIZED (
  SELECT l.project_id, l.next_seq, l.waiting FROM beckon.ingest_queue_state l WHERE l.project_id = ANY ($1::bigint[])
), gate AS MATERIALIZED (
  SELECT coalesce(max(waiting) >= $4::bigint, false) AS is_full, max(waiting) AS waiting FROM queue
), won AS (
  INSERT INTO beckon.idempotency AS i (project_id, key, fingerprint, status, body, accepted_at)
  SELECT o.project_id, substring($5::bytea, o.at::int * 48 - 47, 16), substring($5, o.at::int * 48 - 31, 32), o.status,
         CASE WHEN o.reply_bytes > 0 THEN substring($6::bytea, o.reply_from, o.reply_bytes) END, $7::timestamptz
  FROM unnest($9::bigint[], $10::int[], $11::smallint[], $12::int[], $13::int[]) WITH ORDINALITY
       AS o(project_id, key_n, status, reply_from, reply_bytes, at)
  JOIN live ON live.n = o.key_n
  WHERE NOT (SELECT is_full FROM gate)
  ON CONFLICT (project_id, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body, accepted_at = excluded.accepted_at
    WHERE i.accepted_at <= $8::timestamptz
  RETURNING i.project_id, i.key
), clean AS MATERIALIZED (
  SELECT NOT is_full AND (SELECT count(*) FROM live) = cardinality($1::bigint[])
                     AND (SELECT count(*) FROM won) = cardinality($9::bigint[]) AS yes FROM gate
), accepted AS MATERIALIZED (
  SELECT e.* FROM unnest($14::bigint[], $15::int[], $16::int[], $17::text[], $18::int[], $19::boolean[], $20::int[], $21::int[])
       WITH ORDINALITY AS e(project_id, key_n, once_n, kind, records, packed, part_from, part_bytes, at)
  JOIN live ON live.n = e.key_n
  LEFT JOIN won w ON w.project_id = e.project_id AND w.key = substring($5, e.once_n * 48 - 47, 16)
  WHERE NOT (SELECT yes FROM clean) AND NOT (SELECT is_full FROM gate) AND (e.once_n = 0 OR w.key IS NOT NULL)
), chunk AS MATERIALIZED (
  SELECT project_id, kind, records, before, substring($22::bytea, body_from, body_bytes) AS body
  FROM unnest($23::bigint[], $24::text[], $25::bigint[], $26::bigint[], $27::int[], $28::int[])
       AS whole(project_id, kind, records, before, body_from, body_bytes)
  WHERE (SELECT yes FROM clean)
  UNION ALL
  SELECT project_id, kind, records, sum(records) OVER (PARTITION BY project_id ORDER BY kind DESC, at) - records, body
  FROM (
    SELECT project_id, kind, min(at) AS at, sum(records) AS records,
           CASE WHEN packed THEN string_agg(part, '') ELSE '['::bytea || string_agg(part, ',' ORDER BY at) || ']'::bytea END AS body
    FROM (SELECT t.*, substring($22, part_from, part_bytes) AS part FROM accepted t WHERE records > 0) p
    GROUP BY project_id, kind, packed, CASE WHEN packed THEN at END
  ) pieced
), stored AS (
  INSERT INTO beckon.ingest_queue (project_id, seq, priority, kind, records, body, accepted_at)
  SELECT c.project_id, queue.next_seq + c.before, $29, c.kind, c.records, c.body, $7
  FROM chunk c JOIN queue ON queue.project_id = c.project_id
), moved AS (
  UPDATE beckon.ingest_queue_state AS l SET next_seq = l.next_seq + m.records, waiting = l.waiting + m.records
  FROM (SELECT project_id, sum(records) AS records FROM chunk GROUP BY project_id) AS m
  WHERE l.project_id = m.project_id
)
SELECT yes AS all_stored, is_full, waiting,
       CASE WHEN yes THEN '{}' ELSE ARRAY(SELECT id::text FROM live) END AS live,
       CASE WHEN yes THEN '{}' ELSE ARRAY(SELECT at::int FROM accepted) END AS accepted
FROM clean, gate`;

const STORE = storeText({
  keys: '\n  JOIN beckon.api_key a ON a.last4 = k.last4 AND a.id = k.id',
  isActive: 'a.revoked_at IS NULL AND ',
});
/** For entries of one project whose API keys were checked in a statement of its own. */
const STORE_CHECKED = storeText({ keys: '', isActive: '' });

export type Store = {
  entries: IngestEntry[];
  priority: IngestPriority;
  at: Date;
  /** Replies accepted at or before this time are expired. */
  cutoff: Date;
  /** The limit of the queue gate; null if it does not apply. */
  waitingBelow: number | null;
  /** The statement need not check the API keys. */
  areKeysChecked: boolean;
};

export function storeStatement(store: Store): Query {
  const { entries, priority, at, cutoff, waitingBelow } = store;
  const keys = numberKeys(entries);
  const keyNumber = (entry: IngestEntry): number => keys.get(entry.key.id)?.n ?? 0;
  const distinct = [...keys.values()].map(({ key }) => key);
  const keyed = entries.filter((entry) => entry.once !== null);
  const replies = pack(keyed.map((entry) => entry.reply.body ?? ''));
  const { parts, chunks, bytes } = layOut(entries);
  let once = 0;
  const values = [
    list(distinct.map((key) => key.projectId)),
    list(distinct.map((key) => `"${key.last4}"`)),
    list(distinct.map((key) => key.id)),
    waitingBelow,
    onces(keyed),
    replies.bytes,
    at,
    cutoff,
    list(keyed.map((entry) => entry.key.projectId)),
    list(keyed.map(keyNumber)),
    list(keyed.map((entry) => entry.reply.status)),
    list(replies.from),
    list(replies.lengths),
    list(entries.map((entry) => entry.key.projectId)),
    list(entries.map(keyNumber)),
    list(entries.map((entry) => (entry.once ? (once += 1) : 0))),
    list(entries.map((entry) => entry.kind)),
    list(entries.map((entry) => entry.records)),
    list(parts.map((part) => part.packed)),
    list(parts.map((part) => part.from)),
    list(parts.map((part) => part.length)),
    bytes,
    list(chunks.map((chunk) => chunk.projectId)),
    list(chunks.map((chunk) => chunk.kind)),
    list(chunks.map((chunk) => chunk.records)),
    list(chunks.map((chunk) => chunk.before)),
    list(chunks.map((chunk) => chunk.from)),
    list(chunks.map((chunk) => chunk.length)),
    priority,
  ];
  if (store.areKeysChecked) return { name: 'accept.store_checked', text: STORE_CHECKED, values };
  return { name: 'accept.store', text: STORE, values };
}

function numberKeys(entries: IngestEntry[]): Map<string, { n: number; key: IngestEntry['key'] }> {
  const keys = new Map<string, { n: number; key: IngestEntry['key'] }>();
  for (const { key } of entries) if (!keys.has(key.id)) keys.set(key.id, { n: keys.size + 1, key });
  return keys;
}

const KEY_BYTES = 16;
const FINGERPRINT_BYTES = 32;
const ONCE_BYTES = KEY_BYTES + FINGERPRINT_BYTES;

/** Packs the key and fingerprint of each entry into slots of fixed size. */
function onces(keyed: IngestEntry[]): Buffer {
  const bytes = Buffer.alloc(keyed.length * ONCE_BYTES);
  for (const [i, { once }] of keyed.entries()) {
    if (once) bytes.write(once.key + once.fingerprint, i * ONCE_BYTES, 'hex');
  }
  return bytes;
}

/** Joins all pieces into one blob, with the start (counted from 1, as SQL does) and the length of each. */
function pack(pieces: string[]): { bytes: Buffer; from: number[]; lengths: number[] } {
  const lengths = pieces.map((piece) => Buffer.byteLength(piece));
  const from: number[] = [];
  let next = 1;
  for (const length of lengths) {
    from.push(next);
    next += length;
  }
  return { bytes: Buffer.from(pieces.join('')), from, lengths };
}
