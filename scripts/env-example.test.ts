import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { loadConfig } from '../packages/server/src/main/config.ts';
import { VARIABLES } from '../packages/server/src/main/variables.ts';
import { envExample } from './env-example.ts';

const FILE = new URL('../.env.example', import.meta.url).pathname;
const text = readFileSync(FILE, 'utf8');

test('.env.example is current (node scripts/env-example.ts)', () => {
  expect(text).toBe(envExample());
});

test('changes nothing if copied unchanged', () => {
  expect(parseEnv(text)).toEqual({});
});

test('gives an uncommented line the same value in Node, a shell and compose', () => {
  const on = text.replaceAll(/^#([A-Z_]+=)/gm, '$1');
  const values = parseEnv(on);
  expect(Object.keys(values).toSorted()).toEqual(VARIABLES.map(({ name }) => name).toSorted());
  const names = Object.keys(values).toSorted();
  const script = `eval "$1"; ${names.map((name) => `printf '%s\\0' "$${name}"`).join('; ')}`;
  const output = execFileSync('bash', ['-c', script, 'bash', on], { env: { SHLVL: '1' } })
    .toString()
    .split('\0');
  expect(output.slice(0, -1)).toEqual(names.map((name) => values[name]));
  expect(() =>
    loadConfig({ ...values, SECRET_KEY: 'x'.repeat(32), METRICS_PORT: '9091' }, () => ''),
  ).not.toThrow();
});
