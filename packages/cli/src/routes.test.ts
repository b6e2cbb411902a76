import { describe, expect, test } from 'vitest';
import type { RouteKey } from '@beckon/contract/dashboard';
import { DASHBOARD_ROUTES } from '../../server/src/main/dashboard-routes.ts';
import { ALL_COMMANDS } from '../testkit/all-commands.ts';
import { NO_COMMAND } from '../testkit/no-command.ts';

describe('dashboard routes', () => {
  const routes = DASHBOARD_ROUTES.map(({ key }) => key);
  const used = new Set<RouteKey>(ALL_COMMANDS.flatMap(({ command }) => command.routes));

  test('have a command or a reason why they have none', () => {
    const missing = routes.filter((key) => !used.has(key) && !NO_COMMAND.has(key));
    expect(missing).toEqual([]);
  });

  test('have no reason once they have a command', () => {
    expect([...NO_COMMAND.keys()].filter((key) => used.has(key))).toEqual([]);
  });

  test('exist, if a command or a reason names them', () => {
    const named = [...used, ...NO_COMMAND.keys()];
    expect(named.filter((key) => !routes.includes(key))).toEqual([]);
  });
});
