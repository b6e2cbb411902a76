import type { Clock } from '../../../platform/time/clock.ts';
import type { Log } from '../../../platform/log.ts';
import { recentMap } from '../../../platform/async/recent-map.ts';
import { writeBehind } from '../../../platform/async/write-behind.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { type Client, compareVersions, readClient } from './client-version.ts';
import type { VerifiedKey } from './key.ts';
import { addTraffic, type TrafficRow, type UseRow, upsertUses } from './store.ts';
import { dayOf } from './list-keys.ts';

/** Records the last use of each key, its client and its daily requests. Uses are kept in memory and written within ten seconds. */
export type KeyUse = {
  note(key: Pick<VerifiedKey, 'id' | 'projectId'>, userAgent: string | undefined): void;
  /** Returns the minimum version that the operator configured for this client, if the caller is below it. */
  outdated(userAgent: string): string | undefined;
  flush(): Promise<void>;
  close(): Promise<void>;
};

export type KeyUseDeps = {
  db: Tx;
  clock: Clock;
  log: Log;
  /** Maps the client name in lower case to the lowest version that is not flagged. */
  minimumVersions?: ReadonlyMap<string, string>;
};

const KEY_USE_EVERY_MS = 10_000;
const KEYS_MAX = 100_000;
const USER_AGENTS_MAX = 10_000;

/** `count`: requests since the last write. */
type Use = { projectId: number; keyId: string; atMs: number; userAgent: string | undefined; count: number };

export function keyUse({ db, clock, log, minimumVersions = new Map() }: KeyUseDeps): KeyUse {
  const uses = writeBehind<Use>({
    everyMs: KEY_USE_EVERY_MS,
    entriesMax: KEYS_MAX,
    log,
    failedEvent: 'api_key.use_not_recorded',
    async write(rows) {
      await upsertUses(db, rows.map(toRow));
      // Comes last, because a repeated write would count twice.
      await addTraffic(db, rows.map(toTraffic));
    },
    merge: (older, newer) => ({
      ...newer,
      userAgent: newer.userAgent ?? older.userAgent,
      count: older.count + newer.count,
    }),
  });
  const minimumsByAgent = recentMap<{ minimum: string | undefined }>(USER_AGENTS_MAX);

  return {
    note(key, userAgent) {
      const pending = uses.pending(key.id);
      if (!pending)
        uses.add(key.id, { projectId: key.projectId, keyId: key.id, atMs: clock.now(), userAgent, count: 1 });
      else {
        pending.count += 1;
        pending.atMs = clock.now();
        pending.userAgent = userAgent ?? pending.userAgent;
      }
    },
    outdated(userAgent) {
      if (minimumVersions.size === 0) return undefined;
      let entry = minimumsByAgent.get(userAgent);
      if (!entry) {
        entry = { minimum: findMinimumMissed(userAgent, minimumVersions) };
        minimumsByAgent.set(userAgent, entry);
      }
      return entry.minimum;
    },
    flush: () => uses.flush(),
    close: () => uses.close(),
  };
}

/** Parses the client only when a row is written: one `User-Agent` header per thousand uses in ten seconds. */
function toRow(use: Use): UseRow {
  const client = use.userAgent === undefined ? undefined : readClient(use.userAgent);
  return {
    project_id: use.projectId,
    key_id: use.keyId,
    last_used_at: new Date(use.atMs),
    client_name: client?.name ?? null,
    client_version: client?.version ?? null,
  };
}

function toTraffic({ projectId, keyId, atMs, count }: Use): TrafficRow {
  return { project_id: projectId, key_id: keyId, day: dayOf(atMs), requests: count };
}

function findMinimumMissed(userAgent: string, minimums: ReadonlyMap<string, string>): string | undefined {
  const client = readClient(userAgent);
  return client && minimumMissed(client, minimums);
}

/** Returns the minimum version that the operator configured for this client, if its version is lower. */
export function minimumMissed(client: Client, minimums: ReadonlyMap<string, string>): string | undefined {
  const minimum = minimums.get(client.name.toLowerCase());
  return minimum !== undefined && compareVersions(client.version, minimum) < 0 ? minimum : undefined;
}
