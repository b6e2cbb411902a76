import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../../testing/factories/database.ts';
import { programEnv } from '../../../testing/servers/program-env.ts';
import { checkHost, type Host } from './check-host.ts';
import type { InstallationCheck, InspectedConfig } from './checks.ts';

const folder = await mkdtemp(join(tmpdir(), 'beckon-host-'));
afterAll(() => rm(folder, { recursive: true }));

const CONFIG: InspectedConfig = {
  warnings: [],
  dataDir: folder,
  embedded: true,
  publicUrl: 'http://localhost',
  host: '127.0.0.1',
  tls: null,
  ports: [],
  servesApi: true,
  pooled: false,
  connectionsNeeded: 25,
  relay: null,
};

/** A machine without a problem. */
const GOOD: Host = {
  descriptorsMax: async () => 65_536,
  memory: () => ({ total: 4 * 1024 ** 3 }),
  syncs: async () => [2, 1, 3],
  isTimeKept: async () => true,
  wallClock(zone, at) {
    const options = { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
    return new Intl.DateTimeFormat('en-GB', options).format(at);
  },
};

async function statesOf(change: Partial<Host>): Promise<Record<string, string>> {
  const checks = await checkHost(CONFIG, { ...GOOD, ...change });
  for (const { state, next } of checks) expect(next === null).toBe(state === 'ok');
  return Object.fromEntries(checks.map(({ check, state }) => [check, state]));
}

const WELL = { 'open files': 'ok', memory: 'ok', 'time zones': 'ok', time: 'ok', 'disk speed': 'ok' };

test('checkHost › reports each problem of a machine separately', async () => {
  expect(await statesOf({})).toEqual(WELL);
  expect(await statesOf({ descriptorsMax: async () => 1_024 })).toEqual({ ...WELL, 'open files': 'warn' });
  expect(await statesOf({ memory: () => ({ total: 800 * 1024 ** 2 }) })).toEqual({
    ...WELL,
    memory: 'warn',
  });
  expect(await statesOf({ memory: () => ({ total: 300 * 1024 ** 2 }) })).toEqual({
    ...WELL,
    memory: 'fail',
  });
  expect(await statesOf({ wallClock: () => '12:00' })).toEqual({ ...WELL, 'time zones': 'fail' });
  expect(await statesOf({ isTimeKept: async () => false })).toEqual({ ...WELL, time: 'warn' });
  expect(await statesOf({ syncs: async () => [50, 60, 1] })).toEqual({ ...WELL, 'disk speed': 'warn' });
  expect(await statesOf({ syncs: async () => [500, 600, 1] })).toEqual({ ...WELL, 'disk speed': 'fail' });
  expect(await statesOf({ syncs: async () => [0.001, 0.002, 0.001] })).toEqual({
    ...WELL,
    'disk speed': 'warn',
  });
  const { time: _, ...unknown } = WELL;
  expect(await statesOf({ isTimeKept: async () => null })).toEqual(unknown);
});

test('checkHost › warns of a data directory that other accounts can write to', async () => {
  await chmod(folder, 0o777);
  const open = await checkHost(CONFIG, GOOD);
  await chmod(folder, 0o700);
  expect(open.find(({ check }) => check === 'data directory')).toMatchObject({ state: 'warn' });
  expect((await checkHost(CONFIG, GOOD)).some(({ check }) => check === 'data directory')).toBe(false);
});

test('checkHost › measures this machine, and leaves no file', async () => {
  const checks = await checkHost(CONFIG);
  const find = (name: string): InstallationCheck | undefined => checks.find(({ check }) => check === name);
  expect(find('disk speed')?.message).toMatch(/takes [\d.]+ ms/);
  expect(find('memory')?.message).toMatch(/has \d{1,5}\.\d GiB/);
  expect(find('time zones')?.state).toBe('ok');
  expect(await readdir(folder)).toEqual([]);
});

const MAIN = new URL('../main.ts', import.meta.url).pathname;
const faketime = spawnSync('faketime', ['-f', '+1s', 'true']).status === 0;

test.skipIf(!faketime)(
  'doctor › finds a wrong clock by its offset from the database (skipped without faketime)',
  async () => {
    const database = await testDatabase();
    const args = ['-f', '+42s', process.execPath, MAIN, 'doctor', '--json'];
    const env = {
      ...programEnv(),
      DATABASE_URL: database.url,
      SECRET_KEY: 'of these tests alone, and long enough',
      PORT: '0',
      MAIL_IN_PORT: '0',
    };
    const child = spawn('faketime', args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    await database.drop();
    const clock = (JSON.parse(output) as InstallationCheck[]).find(({ check }) => check === 'clock');
    expect({ code: code as number, state: clock?.state }).toEqual({ code: 1, state: 'fail' });
    const offset = Number(/(\d+) ms/.exec(clock?.message ?? '')?.[1]);
    expect(Math.abs(offset - 42_000)).toBeLessThan(5_000);
  },
  60_000,
);
