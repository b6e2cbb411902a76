import type { Log } from '../../../platform/log.ts';
import type { Database } from '../../../platform/db/database.ts';
import { listTrackingHosts } from './reads.ts';

/** The proven tracking hosts of all projects. A change is visible within a minute. */
export type TrackingHosts = { has: (host: string) => boolean };

const FRESH_FOR_MS = 60_000;
const HOSTS_MAX = 100_000;

/** Answers from memory. A request that finds the list older than a minute starts a refresh without waiting for it. */
export function createTrackingHosts(
  db: Pick<Database, 'query' | 'prepared' | 'clock'>,
  log: Log,
): TrackingHosts {
  let hosts: ReadonlySet<string> = new Set();
  let freshUntil = 0;

  function refresh(now: number): void {
    freshUntil = now + FRESH_FOR_MS;
    listTrackingHosts(db, HOSTS_MAX).then(
      (found) => (hosts = new Set(found)),
      (error: unknown) => log.warn({ err: error }, 'tracking_hosts.not_read'),
    );
  }

  return {
    has(host) {
      const now = db.clock.now();
      if (now >= freshUntil) refresh(now);
      return hosts.has(host);
    },
  };
}
