import type { Priority } from '../../features/inbox/index.ts';

/**
 * A bound that does not rely on counted work. A record may cost more than anything counts, and then its batch can outlast its
 * own transaction. Such a batch is retried with a tenth of its records, down to one, and a record that fails alone becomes a
 * dead letter at its third attempt.
 */
const ATTEMPTS_MAX = 3;

export type StalledBatch = {
  priority: Priority;
  projectId: number;
  seq: number | null;
  records: number;
  stalledMs: number;
};

/** `failed` returns the reason for the dead letter, or null if the record is to be tried again. */
export type StalledRecords = { failed(batch: StalledBatch): string | null };

export function createStalledRecords(): StalledRecords {
  const known = new Map<string, { seq: number; attempts: number }>();
  return {
    failed({ priority, projectId, seq, records, stalledMs }) {
      if (seq === null || records !== 1) return null;
      const key = `${projectId} ${priority}`;
      const before = known.get(key);
      const attempts = before?.seq === seq ? before.attempts + 1 : 1;
      if (attempts < ATTEMPTS_MAX) {
        known.set(key, { seq, attempts });
        return null;
      }
      known.delete(key);
      return `Processing this record failed ${attempts} times, and kept the server busy for ${Math.round(stalledMs / 1_000)} s`;
    },
  };
}
