import type { ApiKey } from '@beckon/contract/dashboard';
import { displayKey } from './key.ts';
import { listKeyRows, listTraffic, listUses } from './store.ts';
import type { Tx } from '../../../platform/db/statements.ts';

/** A key as stored, and its last use. `created_by` is the stable id of the author. */
export type ListedKey = Omit<ApiKey, 'minimum_version' | 'traffic'>;

/** Lists recent request counts for each key of a project. */
export async function listKeyTraffic(
  tx: Tx,
  { projectId, now }: { projectId: number; now: number },
): Promise<(keyId: string) => DayOfTraffic[]> {
  const since = dayOf(now - TRAFFIC_DAYS * 86_400_000);
  const rows = Map.groupBy(await listTraffic(tx, projectId, since), (row) => row.key_id);
  return (keyId) => filledDays(rows.get(keyId) ?? [], now);
}

/** Lists all keys of a project, including revoked ones, oldest first. */
export async function listKeys(tx: Tx, projectId: number): Promise<ListedKey[]> {
  const uses = new Map((await listUses(tx, projectId)).map((use) => [use.key_id, use]));
  const rows = await listKeyRows(tx, projectId);
  return rows.map((row) => {
    const use = uses.get(row.id);
    const client =
      use?.client_name && use.client_version ? { name: use.client_name, version: use.client_version } : null;
    return {
      id: row.id,
      env: row.env === 'test' ? 'test' : 'live',
      label: row.label,
      display: displayKey(row.env, row.last4),
      created_at: row.created_at.toISOString(),
      created_by: row.created_by,
      last_used_at: use?.last_used_at?.toISOString() ?? null,
      client,
      revoked_at: row.revoked_at?.toISOString() ?? null,
    };
  });
}

/** The requests of a day in UTC. */
type DayOfTraffic = ApiKey['traffic'][number];

/** The period that members check before they revoke a key. */
const TRAFFIC_DAYS = 14;
const DAY_MS = 86_400_000;

export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Returns each of the last fourteen days, oldest first, including days without a request. */
function filledDays(traffic: DayOfTraffic[], now: number): DayOfTraffic[] {
  const requests = new Map(traffic.map((entry) => [entry.day, entry.requests]));
  return Array.from({ length: TRAFFIC_DAYS }, (_, index) => {
    const day = dayOf(now - (TRAFFIC_DAYS - 1 - index) * DAY_MS);
    return { day, requests: requests.get(day) ?? 0 };
  });
}
