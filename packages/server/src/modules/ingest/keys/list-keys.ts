import { displayKey, type KeyEnvironment } from './key.ts';
import { listKeyRows, listTraffic, listUses } from './store.ts';
import type { Tx } from '../../../platform/db/statements.ts';

export type ListedKey = {
  id: string;
  env: KeyEnvironment;
  label: string;
  display: string;
  createdAt: Date;
  createdBy: string | null;
  lastUsedAt: Date | null;
  client: { name: string; version: string } | null;
  revokedAt: Date | null;
};

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
      createdAt: row.created_at,
      createdBy: row.created_by,
      lastUsedAt: use?.last_used_at ?? null,
      client,
      revokedAt: row.revoked_at,
    };
  });
}

/** The requests of a day in UTC. */
type DayOfTraffic = { day: string; requests: number };

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
