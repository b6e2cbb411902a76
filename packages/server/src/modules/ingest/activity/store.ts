import { setImmediate } from 'node:timers/promises';
import { jsonList, jsonListSql, momentList, plainList, textList } from '../../../platform/db/list.ts';
import { sendInSlices } from '../../../platform/db/slices.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { ActivityRow, RequestItem } from './stream.ts';

/** Inserts changes of many projects. */
export async function insertActivity(tx: Tx, rows: Iterable<ActivityRow>): Promise<void> {
  const { written } = await sendActivity(tx, rows);
  await written;
}

/** Inserts changes of many projects. Resolves when they are sent; `written` settles when they are written. */
export function sendActivity(tx: Tx, rows: Iterable<ActivityRow>): Promise<{ written: Promise<void> }> {
  return sendInSlices(rows, (slice) => insertSlice(tx, slice), {
    bytesOf: ({ detail }) => detail.length,
    pause: setImmediate,
  });
}

async function insertSlice(tx: Tx, rows: ActivityRow[]): Promise<void> {
  await tx.prepared({
    name: 'stream.insert_activity',
    text: `INSERT INTO beckon.activity (project_id, at, id, kind, external_user_id, audience_id, detail)
           SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::uuid[], $4::text[], $5::text[], $6::uuid[], ${jsonListSql('$7')})`,
    values: [
      plainList(rows.map((row) => row.projectId)),
      momentList(rows.map((row) => row.at.getTime())),
      plainList(rows.map((row) => row.id)),
      plainList(rows.map((row) => row.kind)),
      textList(rows.map((row) => row.userId)),
      plainList(rows.map((row) => row.audienceId)),
      jsonList(rows.map((row) => row.detail)),
    ],
  });
}

/** Deletes all changes of one user. Returns their number. */
export async function eraseActivity(tx: Tx, projectId: number, userId: string): Promise<number> {
  const [gone] = await tx.query<{ count: number }>(
    `WITH gone AS (DELETE FROM beckon.activity WHERE project_id = $1 AND external_user_id = $2 RETURNING 1)
     SELECT count(*) AS count FROM gone`,
    [projectId, userId],
  );
  return gone?.count ?? 0;
}

/** Deletes the oldest changes and requests before this time, at most `limit` of both together. Returns their number. */
export async function forgetStream(
  tx: Tx,
  { projectId, before, limit }: { projectId: number; before: Date; limit: number },
): Promise<number> {
  const [gone] = await tx.query<{ count: number }>(
    `WITH old AS MATERIALIZED (
       (SELECT 'activity' AS of, at, id FROM beckon.activity WHERE project_id = $1 AND at < $2 ORDER BY at, id LIMIT $3)
       UNION ALL
       (SELECT 'request', at, id FROM beckon.ingest_log WHERE project_id = $1 AND at < $2 ORDER BY at, id LIMIT $3)
       ORDER BY at, id LIMIT $3
     ), activities AS (
       DELETE FROM beckon.activity c USING old
       WHERE old.of = 'activity' AND c.project_id = $1 AND c.at = old.at AND c.id = old.id RETURNING 1
     ), requests AS (
       DELETE FROM beckon.ingest_log l USING old
       WHERE old.of = 'request' AND l.project_id = $1 AND l.at = old.at AND l.id = old.id RETURNING 1
     )
     SELECT (SELECT count(*) FROM activities) + (SELECT count(*) FROM requests) AS count`,
    [projectId, before, limit],
  );
  return gone?.count ?? 0;
}

export type RequestRow = {
  projectId: number;
  at: Date;
  id: string;
  endpoint: string;
  status: number;
  code: string | null;
  requests: number;
  accepted: number;
  rejected: number;
  requestId: string;
  keyId: string | null;
  bytes: number;
  slowestMs: number;
  faults: RequestItem['faults'];
};

export async function addRequests(tx: Tx, rows: RequestRow[]): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.ingest_log (project_id, at, id, endpoint, status, code, requests, accepted, rejected, request_id,
       key_id, bytes, slowest_ms, faults)
     SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::uuid[], $4::text[], $5::smallint[], $6::text[], $7::int[],
                          $8::int[], $9::int[], $10::text[], $11::uuid[], $12::bigint[], $13::int[], $14::jsonb[])`,
    [
      rows.map((row) => row.projectId),
      rows.map((row) => row.at),
      rows.map((row) => row.id),
      rows.map((row) => row.endpoint),
      rows.map((row) => row.status),
      rows.map((row) => row.code),
      rows.map((row) => row.requests),
      rows.map((row) => row.accepted),
      rows.map((row) => row.rejected),
      rows.map((row) => row.requestId),
      rows.map((row) => row.keyId),
      rows.map((row) => row.bytes),
      rows.map((row) => row.slowestMs),
      rows.map((row) => row.faults && JSON.stringify(row.faults)),
    ],
  );
}
