import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connectionsOf } from '../platform/db/connections.ts';
import { loadConfig } from './config.ts';
import { connectionsNeeded } from './processes.ts';

const PAGE = readFileSync(new URL('../../../../docs/how-to/scaling.md', import.meta.url), 'utf8');

test('the page lists how many connections a process opens', () => {
  const rows = [...PAGE.matchAll(/^\| (`[\w-]+`|all in one) \| (\d+) \| (\d+) \|$/gm)];
  const documented = rows.map(([, name, pooled, direct]) => [
    name,
    { pooled: Number(pooled), direct: Number(direct) },
  ]);
  expect(Object.fromEntries(documented)).toEqual({
    '`api`': connectionsOf(new Set(['api'])),
    '`worker`': connectionsOf(new Set(['worker'])),
    '`mail-in`': connectionsOf(new Set(['mail-in'])),
    'all in one': connectionsOf(new Set(['api', 'worker', 'mail-in'])),
  });
});

test('several processes need the sum of their connections', () => {
  const needed = (env: Record<string, string>): number => connectionsNeeded(loadConfig(env, () => ''));
  expect(needed({})).toBe(33);
  expect(needed({ ROLES: 'api' })).toBe(32);
  expect(needed({ ROLES: 'api,worker', API_PROCESSES: '2', WORKER_PROCESSES: '3' })).toBe(2 * 32 + 3 * 19);
});
