import { type Clock, iso } from '../../../platform/time/clock.ts';
import type { Log } from '../../../platform/log.ts';
import { writeBehind } from '../../../platform/async/write-behind.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { addWarnings, type WarningRow } from './store.ts';

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
      const noted = warnings.pending(key);
      if (!noted) warnings.add(key, { project_id: projectId, code, day, count: 1, last_at: new Date(now) });
      else {
        noted.count += 1;
        noted.last_at = new Date(now);
      }
    },
    flush: () => warnings.flush(),
    close: () => warnings.close(),
  };
}
