import type { Tx } from '../db/statements.ts';
import { AHEAD, type Bucket } from './bucket.ts';

/** The request of one bucket: as many tokens as it has waiters, more if `ahead`, and the tokens that it returns. */
export type BucketRequest = {
  bucket: Bucket;
  waiting: number;
  held: number;
  leased: number;
  back: number;
  ahead: boolean;
};

export type LeaseRow = {
  project_id: number;
  endpoint: string;
  rate: number;
  burst: number;
  granted: number;
  tokens: number;
};

/**
 * `total`: the content of the bucket after the refill and the returned tokens. The refill leaves space for the tokens that the asker had
 * leased. Otherwise the bucket and its lessees together would hold more than the burst. A millionth of a token is tolerated: twenty times
 * 0.05 is not quite 1 in floating point.
 */
const LEASE = `
WITH request AS MATERIALIZED (
  SELECT * FROM unnest($2::bigint[], $3::text[], $4::int[], $5::int[], $6::int[], $7::int[], $8::boolean[])
    AS a (project_id, endpoint, waiting, held, leased, back, ahead)
), bucket AS MATERIALIZED (
  SELECT r.project_id, r.endpoint, r.rate, r.burst, r.tokens, r.refilled_at,
         a.waiting, a.held, a.leased, a.back, a.ahead
  FROM request a JOIN beckon.rate_limit r ON r.project_id = a.project_id AND r.endpoint = a.endpoint
  ORDER BY r.project_id, r.endpoint
  FOR UPDATE OF r
), filled AS (
  SELECT *, least(burst, back + greatest(0, least(burst - leased,
           tokens + rate * greatest(0, extract(epoch FROM $1::timestamptz - refilled_at)::float8)))) AS total
  FROM bucket
), owed AS (
  SELECT *, least(waiting, floor(total + 1e-6)) AS due FROM filled
), lease AS (
  SELECT project_id, endpoint, refilled_at, total,
         due + CASE WHEN ahead AND total - due > burst / 2
                    THEN least(greatest(0, ceil(burst * ${AHEAD}) - held), floor(total - due)) ELSE 0 END AS granted
  FROM owed
)
UPDATE beckon.rate_limit AS r
SET tokens = l.total - l.granted, refilled_at = greatest(l.refilled_at, $1)
FROM lease l
WHERE r.project_id = l.project_id AND r.endpoint = l.endpoint
RETURNING r.project_id, r.endpoint, r.rate, r.burst, r.tokens, l.granted`;

/** Locks rows in the order of their keys, so that processes that lease from the same buckets never deadlock. */
export function leaseTokens(tx: Tx, requests: BucketRequest[], now: number): Promise<LeaseRow[]> {
  const list = (of: (request: BucketRequest) => number | boolean): string =>
    `{${requests.map(of).join(',')}}`;
  return tx.prepared<LeaseRow>({
    name: 'counter.lease',
    text: LEASE,
    values: [
      new Date(now),
      list((request) => request.bucket.projectId),
      requests.map((request) => request.bucket.name),
      list((request) => request.waiting),
      list((request) => request.held),
      list((request) => request.leased),
      list((request) => request.back),
      list((request) => request.ahead),
    ],
  });
}

export type NewRow = { projectId: number; name: string; rate: number; burst: number };

export async function insertBuckets(tx: Tx, rows: NewRow[], now: number): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.rate_limit AS t (project_id, endpoint, rate, burst, tokens, refilled_at)
     SELECT project_id, endpoint, rate, burst, burst, $1::timestamptz
     FROM unnest($2::bigint[], $3::text[], $4::float8[], $5::float8[]) AS row (project_id, endpoint, rate, burst)
     ORDER BY project_id, endpoint
     ON CONFLICT (project_id, endpoint) DO NOTHING`,
    [
      new Date(now),
      rows.map((row) => row.projectId),
      rows.map((row) => row.name),
      rows.map((row) => row.rate),
      rows.map((row) => row.burst),
    ],
  );
}
