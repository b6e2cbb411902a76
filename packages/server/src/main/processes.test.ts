import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../platform/time/clock.ts';
import { deriveKey } from '../platform/crypto/hash.ts';
import { silentLog } from '../platform/log.ts';
import { createKey } from '../modules/ingest/keys/change-key.ts';
import { createProject } from '../modules/administration/create-project.ts';
import { openDatabase } from '../platform/db/database.ts';
import { testDatabase } from '../../testing/factories/database.ts';
import { freePort } from '../../testing/servers/free-port.ts';
import { type Supervised, superviseServer } from '../../testing/servers/supervised-server.ts';
import { writers } from '../../testing/oracles/survival.ts';
import { loadConfig } from './config.ts';
import { type CountedMetric, keepCounted, mergeCounts } from './merged-counts.ts';
import { isSingleProcess, nameOf, partsOf } from './processes.ts';
import { nameServed } from '../../testing/servers/http-client.ts';

const PAIRS = join(import.meta.dirname, '../../testing/servers/tls');
const SECRET_KEY = 'a secret of these tests, and long enough';
const testDb = await testDatabase();
const db = await openDatabase({ connection: testDb.connection, clock: systemClock, log: silentLog });
afterAll(async () => {
  await db.close();
  await testDb.drop();
});

function start(more: Record<string, string> = {}): Supervised {
  const server = superviseServer({
    DATABASE_URL: testDb.url,
    SECRET_KEY,
    API_PROCESSES: '2',
    WORKER_PROCESSES: '2',
    ROLES: 'api,worker',
    ...more,
  });
  onTestFinished(async () => {
    server.child.kill('SIGKILL');
    await server.ended;
  });
  return server;
}

const started =
  (name: string, after = 0) =>
  (line: { event?: string; process?: string; pid?: number }) =>
    line.event === 'process.started' && line.process === name && line.pid !== after;

async function pidOf(server: Supervised, name: string, after = 0): Promise<number> {
  return (await server.line(started(name, after))).pid ?? 0;
}

async function counted(url: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const rows = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    rows.map((row): [string, number] => [row.replace(/ \S+$/, ''), Number(row.split(' ').at(-1))]),
  );
}

const ACCEPTED = 'beckon_records_accepted_total{priority="live"}';

test('one process of each kind is a single process; more are as many as configured', () => {
  const parts = (env: Record<string, string>): string[] => partsOf(loadConfig(env, () => '')).map(nameOf);
  expect(isSingleProcess(loadConfig({}, () => ''))).toBe(true);
  expect(isSingleProcess(loadConfig({ ROLES: 'api', WORKER_PROCESSES: '8' }, () => ''))).toBe(true);
  expect(isSingleProcess(loadConfig({ WORKER_PROCESSES: '2' }, () => ''))).toBe(false);
  expect(parts({ API_PROCESSES: '2', WORKER_PROCESSES: '3' })).toEqual([
    'api 1',
    'api 2',
    'worker 1',
    'worker 2',
    'worker 3',
    'mail-in 1',
  ]);
  expect(parts({ ROLES: 'worker', API_PROCESSES: '2', WORKER_PROCESSES: '2' })).toEqual([
    'worker 1',
    'worker 2',
  ]);
});

test('several processes share a port and their counts, restart after a kill, and lose no record', async () => {
  const metricsPort = await freePort();
  const server = start({ METRICS_PORT: String(metricsPort) });
  const [url, at] = [await server.url, `http://127.0.0.1:${metricsPort}`];
  const { id } = await createProject(db, { name: 'Killed' });
  const pepper = deriveKey(SECRET_KEY, 'api-key pepper');
  const { secret } = await createKey({ db, pepper }, { projectId: id, label: 'server' });
  const load = writers({ url, secret }, 8);
  const { acknowledged } = load.journal;
  const enough = async (more: number): Promise<void> => {
    const upTo = acknowledged.size + more;
    while (acknowledged.size < upTo) await pause(10);
  };
  await enough(50);
  for (const name of ['api 1', 'worker 1']) {
    const before = (await counted(at)).get(ACCEPTED) ?? 0;
    const pid = await pidOf(server, name);
    process.kill(pid, 'SIGKILL');
    await server.line((line) => line.event === 'process.ended' && line.process === name);
    // A scraper never sees the sum fall.
    expect((await counted(at)).get(ACCEPTED)).toBeGreaterThanOrEqual(before);
    await pidOf(server, name, pid);
    await enough(50);
  }
  await load.stop();
  const serving = (): number => server.lines.filter(({ event }) => event === 'process.ready').length;
  while (serving() < 6) await pause(20);
  while ((await db.query(`SELECT 1 FROM beckon.ingest_queue WHERE project_id = $1 LIMIT 1`, [id])).length > 0)
    await pause(20);
  const stored = await db.query<{ name: string; count: number }>(
    `SELECT name, count(*) AS count FROM beckon.event WHERE project_id = $1 GROUP BY name`,
    [id],
  );
  const times = new Map(stored.map(({ name, count }) => [name, count]));
  const sent = [...acknowledged.keys()].flatMap((write) => write.events);
  expect(sent.filter((name) => times.get(name) !== 1)).toEqual([]);
  const counts = await counted(at);
  expect(counts.get('beckon_process_ends_total{role="api"}')).toBe(1);
  expect(counts.get('beckon_process_ends_total{role="worker"}')).toBe(1);
  expect(counts.get('beckon_processes{role="worker"}')).toBe(2);
  // Killed processes lose the counts since their last report.
  expect(counts.get(ACCEPTED)).toBeGreaterThan(0);
  expect((await fetch(`${url}/metrics`)).status).toBe(404);
  // As a terminal and a service manager do: the whole group gets the signal.
  const startsBefore = server.lines.filter(({ event }) => event === 'process.started').length;
  for (const name of ['api 2', 'worker 2']) process.kill(await pidOf(server, name), 'SIGTERM');
  server.child.kill('SIGTERM');
  expect(await server.ended).toBe(0);
  expect(server.lines.filter(({ event }) => event === 'process.started')).toHaveLength(startsBefore);
  await expect(fetch(`${url}/livez`)).rejects.toThrow();
}, 180_000);

test('a process that cannot start ends all of them, with its own message', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const server = start({ PORT: String(port), ROLES: 'api' });
  await expect(server.url).rejects.toThrow(/PORT \d+ at 127.0.0.1 is in use by another program/);
  expect(await server.ended).toBe(1);
  other.close();
}, 120_000);

test('the first process owns the embedded database, and the others reconnect after its recovery', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'beckon-processes-'));
  const server = superviseServer({ DATA_DIR: dataDir, API_PROCESSES: '2', ROLES: 'api' });
  try {
    const url = await server.url;
    expect(server.output.filter((line) => line.includes('/setup?token='))).toHaveLength(1);
    // Each process reports the counts of all.
    expect((await counted(url)).get('beckon_processes{role="api"}')).toBe(2);
    const [pid] = (await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGKILL');
    await server.line(({ event }) => event === 'postgres.recovered');
    while ((await fetch(`${url}/readyz`)).status !== 200) await pause(20);
    server.child.kill('SIGTERM');
    expect(await server.ended).toBe(0);
    expect(server.lines.filter(({ event }) => event === 'postgres.stopped')).toHaveLength(1);
  } finally {
    // Killed with SIGKILL, it would leave its PostgreSQL running.
    server.child.kill('SIGTERM');
    await server.ended;
    await rm(dataDir, { recursive: true, force: true });
  }
}, 180_000);

test('all processes load a renewed certificate on SIGHUP, and count one that does not match', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'beckon-renewed-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const [certFile, keyFile] = [join(dir, 'server.crt'), join(dir, 'server.key')];
  const renew = async (name: string): Promise<void> => {
    await copyFile(join(PAIRS, `${name}.crt`), certFile);
    await copyFile(join(PAIRS, `${name}.key`), keyFile);
  };
  await renew('first');
  const server = start({
    ROLES: 'api',
    PUBLIC_URL: 'https://localhost:0',
    TLS_CERT_FILE: certFile,
    TLS_KEY_FILE: keyFile,
  });
  const port = Number(new URL(await server.url).port);
  // Connections alternate between the two.
  const served = async (): Promise<string[]> => [await nameServed(port), await nameServed(port)];
  expect(await served()).toEqual(['first', 'first']);
  await renew('second');
  server.child.kill('SIGHUP');
  for (const name of ['api 1', 'api 2'])
    await server.line((line) => line.event === 'certificate.reloaded' && line.process === name);
  expect(await served()).toEqual(['second', 'second']);
  await copyFile(join(PAIRS, 'first.key'), keyFile);
  server.child.kill('SIGHUP');
  for (const name of ['api 1', 'api 2'])
    await server.line((line) => line.event === 'certificate.not_reloaded' && line.process === name);
  expect(await served()).toEqual(['second', 'second']);
  const counted = /^beckon_log_lines_total\{level="error",event="certificate\.not_reloaded"[^}]*\} (\d+)$/m;
  expect(counted.exec(await pageOf(port))?.[1]).toBe('2');
}, 120_000);

/** Returns the metrics of a server with an untrusted certificate. */
async function pageOf(port: number): Promise<string> {
  const outgoing = request({ port, host: 'localhost', path: '/metrics', rejectUnauthorized: false }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return text(response);
}

test('gauges are merged by their aggregator, and only counters of ended processes are kept', async () => {
  const metric = (
    name: string,
    of: Pick<CountedMetric, 'type' | 'aggregator'>,
    value: number,
  ): CountedMetric => ({
    name,
    help: name,
    ...of,
    values: [{ value, labels: {} }],
  });
  const of = (sent: number, deep: number): CountedMetric[] => [
    metric('sent_total', { type: 'counter', aggregator: 'sum' }, sent),
    metric('depth', { type: 'gauge', aggregator: 'max' }, deep),
  ];
  const ended = await keepCounted([], of(5, 100));
  const text = await mergeCounts([of(1, 7), of(2, 9), ended]);
  expect(text).toMatch(/^sent_total 8$/m);
  expect(text).toMatch(/^depth 9$/m);
});
