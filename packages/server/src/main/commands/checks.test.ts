import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { checkArchive } from './check-backup.ts';
import { checkClock, checkDatabase } from './check-database.ts';
import { checkConfig, checkDataDir, checkNode } from './check-host.ts';
import { checkPorts, checkRelay } from './check-network.ts';
import { checkTls } from './check-tls.ts';
import type { InspectedConfig, InspectedDatabase } from './checks.ts';

const folder = await mkdtemp(join(tmpdir(), 'beckon-doctor-'));
afterAll(() => rm(folder, { recursive: true }));

const config: InspectedConfig = {
  warnings: [],
  dataDir: folder,
  embedded: true,
  publicUrl: 'http://localhost:8080',
  host: '127.0.0.1',
  tls: null,
  ports: [],
  servesApi: true,
  pooled: false,
  connectionsNeeded: 25,
  relay: null,
};

test('checkNode › fails for an old Node.js, with the fix', () => {
  expect(checkNode('v26.1.0').state).toBe('ok');
  expect(checkNode('v27.0.0').state).toBe('ok');
  expect(checkNode('v20.20.2')).toMatchObject({
    state: 'fail',
    next: expect.stringContaining('npm start') as string,
  });
});

test('checkConfig › warns for each warning of the configuration', () => {
  expect(checkConfig({ ...config, warnings: ['a', 'b'] }).map((check) => check.state)).toEqual([
    'warn',
    'warn',
  ]);
});

test('checkDataDir › checks the parent of a missing data directory', async () => {
  const checks = await checkDataDir({ ...config, dataDir: join(folder, 'a', 'b') });
  expect(checks[0]).toMatchObject({
    state: 'ok',
    message: expect.stringContaining(`created in ${folder}`) as string,
  });
  expect(checks[1]?.message).toMatch(/ [\d.]+ GiB of free space/);
  const file = join(folder, 'file');
  await writeFile(file, '', { mode: 0o400 });
  expect((await checkDataDir({ ...config, dataDir: file }))[0]?.state).toBe('fail');
});

const db = await openTestDatabase(fixedClock());

const healthy: InspectedDatabase = {
  db,
  direct: db,
  connectionsAllowed: async () => 97,
  offsetMs: () => 12,
  durabilityFaults: async () => [],
  schemaState: async () => ({ kind: 'ready' }),
  secretFault: async () => null,
  close: async () => {},
};

async function statesOf(change: Partial<InspectedDatabase>): Promise<Record<string, string>> {
  let closed = 0;
  const close = async (): Promise<void> => {
    closed += 1;
  };
  const openDatabase = async (): Promise<InspectedDatabase> => ({ ...healthy, ...change, close });
  const checks = await checkDatabase({ nodeVersion: 'v26.0.0', config, openDatabase }, config);
  expect(closed).toBe(1);
  return Object.fromEntries(checks.map((check) => [check.check, check.state]));
}

test('checkDatabase › reports each problem of a database separately', async () => {
  const well = {
    database: 'ok',
    durability: 'ok',
    'postgresql settings': 'ok',
    schema: 'ok',
    'secret key': 'ok',
    clock: 'ok',
  };
  expect(await statesOf({})).toEqual(well);
  expect(await statesOf({ durabilityFaults: async () => ['fsync is off'] })).toEqual({
    ...well,
    durability: 'fail',
  });
  expect(await statesOf({ secretFault: async () => 'wrong' })).toEqual({ ...well, 'secret key': 'fail' });
  const { 'secret key': _, ...withoutKey } = well;
  expect(await statesOf({ schemaState: async () => ({ kind: 'empty' }) })).toEqual(withoutKey);
  expect(await statesOf({ schemaState: async () => ({ kind: 'older', pending: ['0002'] }) })).toEqual({
    ...withoutKey,
    schema: 'warn',
  });
  const refused = { kind: 'refused', problem: 'It is too new', next: 'Install a newer release' } as const;
  expect(await statesOf({ schemaState: async () => refused })).toEqual({ ...withoutKey, schema: 'fail' });
  expect(await statesOf({ offsetMs: () => -6_000 })).toEqual({ ...well, clock: 'fail' });
});

test('checkArchive › fails if PostgreSQL archives its log nowhere or elsewhere, with BACKUP_DIR', async () => {
  const row = { mode: 'on', command: 'ours', system: '7', failing: false, last: null };
  const check = async (change: Partial<typeof row>, isMeant = true): Promise<string[]> => {
    const query = async (): Promise<object[]> => [{ ...row, ...change }];
    const backups = {
      folder,
      newestAt: async () => null,
      archiveCommand: async (system: string) => (system === '7' ? 'ours' : ''),
    };
    const database = { db: { ...db, query } as unknown as InspectedDatabase['db'] };
    const found = await checkArchive(database, isMeant ? { backups } : {});
    return found.map(({ state, message }) => `${state}: ${message}`);
  };
  expect(await check({})).toEqual([]);
  expect(await check({ mode: 'off', command: '' })).toEqual([
    expect.stringMatching(/^fail: .*archives no log/),
  ]);
  expect(await check({ command: 'cp %p /elsewhere' })).toEqual([
    expect.stringMatching(/^fail: .*not Beckon's/),
  ]);
  expect(await check({ failing: true })).toEqual([expect.stringMatching(/^fail: .*could not be archived/)]);
  expect(await check({ mode: 'off', command: '' }, false)).toEqual([]);
});

test('checkDatabase › fails once for an unreachable database, with the reason', async () => {
  const openDatabase = (): Promise<never> => Promise.reject(new Error('connect ECONNREFUSED'));
  expect(
    await checkDatabase({ nodeVersion: '', config, openDatabase }, { ...config, embedded: false }),
  ).toEqual([
    {
      check: 'database',
      state: 'fail',
      message: 'The database does not respond: connect ECONNREFUSED',
      next: expect.stringContaining('DATABASE_URL') as string,
    },
  ]);
});

test('checkClock › checks the offset in both directions', () => {
  expect([0, 999, -1_000, 5_000, -5_001, null].map((offset) => checkClock(offset).state)).toEqual([
    'ok',
    'ok',
    'warn',
    'warn',
    'fail',
    'ok',
  ]);
});

async function withListener(
  listener: RequestListener | null,
  work: (port: number) => Promise<void>,
): Promise<void> {
  const server = listener
    ? createHttpServer(listener)
    : createServer((socket) => socket.resume().end('SSH-2.0\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work((server.address() as AddressInfo).port);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

const judge = async (port: number) =>
  (await checkPorts({ ...config, ports: [{ variable: 'PORT', port, tls: false }] })).map(
    (check) => check.state,
  );

test('checkPorts › accepts a port that is free or used by Beckon, and no other program', async () => {
  let free = 0;
  await withListener(
    (request, response) =>
      request.url === '/version' ? response.end('{"data":{"version":"0.1.0","node":"v26"}}') : response.end(),
    async (port) => {
      free = port;
      expect(await judge(port)).toEqual(['ok']);
    },
  );
  expect(await judge(free)).toEqual(['ok']);
  await withListener(
    (_, response) => response.end('<html>hello</html>'),
    async (port) => expect(await judge(port)).toEqual(['fail']),
  );
  await withListener(null, async (port) => expect(await judge(port)).toEqual(['fail']));
});

test('checkPorts › fails for an address that this machine does not have', async () => {
  const checks = await checkPorts({
    ...config,
    host: '192.0.2.1',
    ports: [{ variable: 'PORT', port: 8080, tls: false }],
  });
  expect(checks).toMatchObject([{ state: 'fail', next: 'Set HOST to an address of this machine' }]);
});

test('checkTls › fails for missing or invalid files, with their names', async () => {
  const tls = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
  const check = async (): Promise<object[]> => checkTls({ ...config, tls }, 0);
  expect(await check()).toMatchObject([
    { state: 'fail', message: expect.stringContaining('ENOENT') as string },
  ]);
  await writeFile(tls.certFile, 'no certificate');
  await writeFile(tls.keyFile, 'no key');
  expect(await check()).toMatchObject([
    { state: 'fail', message: expect.stringContaining('cert.pem') as string },
  ]);
  expect(await checkTls(config, 0)).toEqual([]);
});

/** For beckon.example and these tests only, valid for a hundred years. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBozCCAUqgAwIBAgIUU9RD/b0RqUei1fIIHYEEq2AqAyQwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOYmVja29uLmV4YW1wbGUwIBcNMjYxMTIxMDYxODQwWhgPMjEy
NjEwMjgwNjE4NDBaMBkxFzAVBgNVBAMMDmJlY2tvbi5leGFtcGxlMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEQPGVqIBfq7VvM+UEH3ThVXU04l3xDPwL/u0aeMEl
K5mN/Vv5tkCKzxqhD9eyMzsIuDBI3jRtLwZk4gbHYDJtu6NuMGwwHQYDVR0OBBYE
FEOWtxt8ejsg8fTb0sQ8TXAs+FB+MB8GA1UdIwQYMBaAFEOWtxt8ejsg8fTb0sQ8
TXAs+FB+MA8GA1UdEwEB/wQFMAMBAf8wGQYDVR0RBBIwEIIOYmVja29uLmV4YW1w
bGUwCgYIKoZIzj0EAwIDRwAwRAIgIzTpB+NN5em9kPOhetUgrkAn+gpMiiAqYueF
Ngv4EncCIGQULE4z4i+pVuJ61wB0yaYQE7pIpjKA4yXIh0HKOmFj
-----END CERTIFICATE-----
`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjwSOz/MGEQXmdpBl
2Cdm6YvvbXiKNIDkUWpK+d5ZevWhRANCAARA8ZWogF+rtW8z5QQfdOFVdTTiXfEM
/Av+7Rp4wSUrmY39W/m2QIrPGqEP17IzOwi4MEjeNG0vBmTiBsdgMm27
-----END PRIVATE KEY-----
`;

test('checkTls › checks the dates and the name of a certificate', async () => {
  const tls = { certFile: join(folder, 'good.pem'), keyFile: join(folder, 'good-key.pem') };
  await writeFile(tls.certFile, CERTIFICATE);
  await writeFile(tls.keyFile, KEY);
  const end = new X509Certificate(CERTIFICATE).validToDate.getTime();
  const day = 86_400_000;
  const judged = async (now: number, publicUrl = 'https://beckon.example'): Promise<string | undefined> =>
    (await checkTls({ ...config, tls, publicUrl }, now))[0]?.state;
  expect(await judged(end - 15 * day)).toBe('ok');
  expect(await judged(end - 13 * day)).toBe('warn');
  expect(await judged(end + 1)).toBe('fail');
  expect(await judged(end - 15 * day, 'https://other.example')).toBe('fail');
});

test('checkRelay › fails with the response of a relay that rejects the login', async () => {
  const states = async (why: string | null) =>
    (await checkRelay({ ...config, relay: { name: 'mail.example:587', probe: async () => why } }))[0];
  expect(await states(null)).toMatchObject({ state: 'ok' });
  expect(await states('auth: 535 no')).toMatchObject({
    state: 'fail',
    message: 'mail.example:587 does not accept the login: auth: 535 no',
  });
  expect((await checkRelay(config))[0]).toMatchObject({ state: 'ok' });
});
