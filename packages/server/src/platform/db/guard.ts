import type { Tx } from './statements.ts';

const POSTGRES_MIN_VERSION = 150_000;
const MUST_BE_ON = ['fsync', 'full_page_writes', 'synchronous_commit'] as const;
/** Levels of synchronous_commit at which a commit is on this server's disk before it is confirmed. */
const DURABLE_COMMIT = ['on', 'local', 'remote_write', 'remote_apply'];

/** Returns the reasons why this database is not durable; empty if it is. */
export async function durabilityFaults(db: Tx): Promise<string[]> {
  const rows = await db.query<{ name: string; setting: string }>(
    `SELECT name, setting FROM pg_settings WHERE name = ANY($1)`,
    [[...MUST_BE_ON, 'server_version_num']],
  );
  const setting = new Map(rows.map((row) => [row.name, row.setting]));
  const faults: string[] = [];
  const version = Number(setting.get('server_version_num'));
  if (!(version >= POSTGRES_MIN_VERSION))
    faults.push(`PostgreSQL 15 or newer is required, this is ${version}`);
  for (const name of MUST_BE_ON) {
    const value = setting.get(name) ?? 'unknown';
    const durable = name === 'synchronous_commit' ? DURABLE_COMMIT.includes(value) : value === 'on';
    if (!durable) faults.push(`${name} is ${value}: an acknowledged record could be lost. Set it to on`);
  }
  return faults;
}
