import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAULT_MESSAGES, type FaultCode } from '@beckon/contract';
import { expect, test } from 'vitest';
import { ALL_ENDPOINTS, type Facts } from '../../../../testing/factories/endpoints.ts';

const PACKAGE = join(import.meta.dirname, '../../../..');
const ENDPOINT_TESTS = [
  'src/modules/ingest/api/**/*.test.ts',
  'src/main/http/server.test.ts',
  'testing/cases/endpoints/*.ts',
];

const texts = globSync(ENDPOINT_TESTS, { cwd: PACKAGE }).map((file) =>
  readFileSync(join(PACKAGE, file), 'utf8'),
);

test.each(Object.keys(FAULT_MESSAGES) as FaultCode[])('%s has an endpoint test', (code) => {
  expect(texts.filter((text) => text.includes(`'${code}'`)).length).toBeGreaterThan(0);
});

/** Returns the statuses of an endpoint; a single endpoint and a batch have no 400. */
function statusesOf({ accepted, kind }: Facts): number[] {
  const always = [401, 403, 404, 405, 413, 415, 422, 429, 503];
  return kind === 'bulk' ? [accepted, 400, ...always] : [accepted, ...always];
}

/** Returns whether the test file of a status names this endpoint, such as `USERS_BULK`, or all endpoints. */
function isTested({ name }: Facts, status: number): boolean {
  const endpoint = name.toUpperCase().replace('-', '_');
  const [file] = globSync(`${status}.test.ts`, { cwd: import.meta.dirname });
  if (file === undefined) return false;
  const text = readFileSync(join(import.meta.dirname, file), 'utf8');
  return new RegExp(`\\b(${endpoint}|ALL_ENDPOINTS)\\b`).test(text);
}

test.each(ALL_ENDPOINTS)('$name is in the test file of every status that it returns', (facts) => {
  expect(statusesOf(facts).filter((status) => !isTested(facts, status))).toEqual([]);
});
