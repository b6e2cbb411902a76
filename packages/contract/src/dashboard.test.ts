import { describe, expect, test } from 'vitest';
import * as dashboard from './dashboard/index.ts';
import { DASHBOARD_API } from './dashboard/endpoints.ts';

describe('dashboard types', () => {
  test('have no schema at run time, so the dashboard and the command line do not load TypeBox', () => {
    const exported = Object.entries<unknown>({ ...dashboard }).filter(([name]) => name !== 'allows');
    expect(exported.filter(([, value]) => !Array.isArray(value))).toEqual([]);
  });
});

describe('DASHBOARD_API', () => {
  test('declares every query and body as an object, so unnamed fields can be rejected', () => {
    for (const endpoint of Object.values<object>(DASHBOARD_API)) {
      const { query, body }: { query?: object; body?: object } = endpoint;
      for (const schema of [query, body]) if (schema) expect(schema).toMatchObject({ type: 'object' });
    }
  });
});
