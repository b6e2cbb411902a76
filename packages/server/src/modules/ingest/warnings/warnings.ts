import { addWarnings, type WarningRow } from './store.ts';
import { writeBehind } from '../../../platform/async/write-behind.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { Log } from '../../../platform/log.ts';
import { type Clock, iso } from '../../../platform/time/clock.ts';

/**
 * Counts accepted records that look like a mistake of the sender, per project, code and day. Examples are a placeholder id and an
 * Idempotency-Key that is not a UUID. It is a hint, not an exact record: a crash may lose the last ten seconds.
 */
export type WarningCounter = {
  note(projectId: number, code: string): void;
  flush(): Promise<void>;
  close(): Promise<void>;
};

const WARNINGS_EVERY_MS = 10_000;
const WARNINGS_MAX = 10_000;
const DAY_CHARS = 'YYYY-MM-DD'.length;

export function warningCounter({ db, clock, log }: { db: Tx; clock: Clock; log: Log }): WarningCounter {
  const warnings = writeBehind<WarningRow>({
    everyMs: WARNINGS_EVERY_MS,
    entriesMax: WARNINGS_MAX,
    log,
    failedEvent: 'warnings.not_written',
    write: (rows) => addWarnings(db, rows),
    merge: (older, newer) => ({ ...newer, count: older.count + newer.count }),
  });
  return {
    note(projectId, code) {
      const now = clock.now();
      const day = iso(now).slice(0, DAY_CHARS);
      const key = `${projectId} ${day} ${code}`;
      const pending = warnings.pending(key);
      if (!pending) warnings.add(key, { project_id: projectId, code, day, count: 1, last_at: new Date(now) });
      else {
        pending.count += 1;
        pending.last_at = new Date(now);
      }
    },
    flush: () => warnings.flush(),
    close: () => warnings.close(),
  };
}

/** Ids of no real user, most often an unset variable. They are accepted, as the interface says, and counted. */
const PLACEHOLDERS = new Set([
  'null',
  'undefined',
  'nil',
  'none',
  'nan',
  'NaN',
  'None',
  'NULL',
  '0',
  '-1',
  'true',
  'false',
  'anonymous',
  'guest',
  'unknown',
  '[object Object]',
  '{}',
  '[]',
  '00000000-0000-0000-0000-000000000000',
]);

export function countPlaceholders(userIds: string[]): number {
  let count = 0;
  for (const id of userIds) if (PLACEHOLDERS.has(id)) count += 1;
  return count;
}
