import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as dashboard from './dashboard/index.ts';
import { DASHBOARD_API } from './dashboard/endpoints.ts';

describe('dashboard types', () => {
  test('have no schema at run time, so the dashboard and the command line do not load TypeBox', () => {
    const exported = Object.entries<unknown>({ ...dashboard }).filter(([, value]) => !Array.isArray(value));
    expect(exported.map(([name]) => name).toSorted()).toEqual([
      'BULK_MAX_ROWS',
      'FILTER_KEYS',
      'LIST_SORTS',
      'allows',
    ]);
  });

  // A schema that is not exported would also load TypeBox.
  test('reach no file by value that imports TypeBox by value', () => {
    const sources = sourcesFrom('index.ts');
    expect([...sources.keys()].toSorted()).toEqual([
      'access.ts',
      'choices.ts',
      'index.ts',
      'list-orders.ts',
      'lists.ts',
    ]);
    for (const [file, source] of sources)
      expect(source, file).not.toMatch(/^import (?!type)[^;]*from 'typebox'/m);
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

/** Returns the sources of the file and of all files of the folder `dashboard` that it loads at run time, by their paths. */
function sourcesFrom(file: string, sources = new Map<string, string>()): Map<string, string> {
  if (sources.has(file)) return sources;
  const source = readFileSync(join(import.meta.dirname, 'dashboard', file), 'utf8');
  sources.set(file, source);
  for (const [, path = ''] of source.matchAll(/^(?:import|export) (?!type)[^;]*?from '(\.[^']+)'/gm))
    sourcesFrom(join(path), sources);
  return sources;
}
