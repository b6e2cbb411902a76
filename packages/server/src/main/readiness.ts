import type { Database } from '../platform/db/database.ts';

const OFFSET_MAX_MS = 5_000;
const READY_WITHIN_MS = 2_000;

/** Returns the reasons why this process should get no traffic now. */
export async function readiness(db: Pick<Database, 'query' | 'offsetMs'>): Promise<string[]> {
  const reasons: string[] = [];
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('late')), READY_WITHIN_MS).unref();
  });
  await Promise.race([db.query('SELECT 1'), late]).catch(() => reasons.push('The database does not respond'));
  const offset = db.offsetMs();
  if (offset !== null && Math.abs(offset) > OFFSET_MAX_MS) {
    reasons.push(`This machine's clock is ${Math.round(offset / 1_000)} s from the database's`);
  }
  return reasons;
}
