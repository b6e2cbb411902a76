import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Outcome, type Report, resultOf, summaryOf } from './summary.ts';

type File = Report['testResults'][number];
type Test = File['assertionResults'][number];

const OK: Outcome = { exit: 0, title: 'unit', note: '' };
const FAILED: Outcome = { ...OK, exit: 1 };

function testOf(status: Test['status'], title = 'works', message?: string): Test {
  return { ancestorTitles: ['module'], title, status, failureMessages: message ? [message] : [] };
}

function fileOf(tests: Test[], { status = 'passed', message = '' }: Partial<File> = {}): File {
  return { name: resolve('packages/a.test.ts'), status, message, assertionResults: tests };
}

describe('resultOf a test suite', () => {
  test('counts passed tests, and skipped tests together with todos', () => {
    const passed = Array.from({ length: 7_527 }, () => testOf('passed'));
    const report = { testResults: [fileOf(passed), fileOf([testOf('skipped'), testOf('todo')])] };
    expect(resultOf('unit', OK, report)).toEqual({
      line: 'unit: 7,527 passed, 2 skipped',
      passed: 7_527,
      failures: [],
    });
  });

  test('names a failed test with its file, its titles and the first line of its message', () => {
    const tests = [testOf('passed'), testOf('failed', 'adds', 'AssertionError: expected 1\n  at x')];
    const { line, failures } = resultOf('unit', FAILED, {
      testResults: [fileOf(tests, { status: 'failed' })],
    });
    expect(line).toBe('unit: 1 failed, 1 passed');
    expect(failures).toEqual(['unit: packages/a.test.ts > module > adds\n    AssertionError: expected 1']);
  });

  test('counts each test that did not finish because its worker crashed', () => {
    const file = fileOf([testOf('passed'), testOf('pending')], { status: 'failed' });
    expect(resultOf('unit', FAILED, { testResults: [file] })).toMatchObject({
      line: 'unit: 1 failed, 1 passed',
      failures: ['unit: packages/a.test.ts > module > works\n    did not finish'],
    });
  });

  test('counts a file that failed without a failed test once, although its tests are skipped', () => {
    const tests = [testOf('skipped'), testOf('skipped')];
    const hook = fileOf(tests, { status: 'failed', message: 'no database\nmore' });
    const afterAll = fileOf([testOf('passed')], { status: 'failed' });
    expect(resultOf('unit', FAILED, { testResults: [hook, afterAll] })).toMatchObject({
      line: 'unit: 2 failed, 1 passed, 2 skipped',
      failures: [
        'unit: packages/a.test.ts\n    no database',
        'unit: packages/a.test.ts\n    failed outside of its tests',
      ],
    });
  });

  test('counts an exit status without a failed test, such as the one of an unhandled rejection', () => {
    const { line, failures } = resultOf('unit', FAILED, { testResults: [fileOf([testOf('passed')])] });
    expect(line).toBe('unit: 1 failed, 1 passed');
    expect(failures[0]).toContain('exit status 1 without a failed test');
  });

  test('fails if no test passed, no report was written, or the job ended without a result', () => {
    expect(resultOf('unit', OK, { testResults: [] }).failures).toEqual(['unit: no test ran']);
    expect(resultOf('unit', { ...OK, exit: 137 }, null).line).toBe(
      'unit: FAILED, no report, exit status 137',
    );
    expect(resultOf('unit', null, null).failures).toHaveLength(1);
  });

  test('uses the title of the job, and prints the reason of a skipped one', () => {
    const title = 'PostgreSQL 15';
    const report = { testResults: [fileOf([testOf('passed')])] };
    expect(resultOf('postgres', { ...OK, title }, report).line).toBe('PostgreSQL 15: 1 passed');
    const skipped: Outcome = { exit: 'skipped', title: 'PostgreSQL', note: 'none is installed' };
    expect(resultOf('postgres', skipped, null)).toEqual({
      line: 'PostgreSQL: skipped, none is installed',
      passed: 0,
      failures: [],
    });
  });
});

describe('resultOf a job without tests', () => {
  test('is passed or failed by its exit status, and counts no passed test', () => {
    const faults: Outcome = { exit: 0, title: 'faults', note: '' };
    expect(resultOf('faults', faults, null)).toEqual({ line: 'faults: passed', passed: 0, failures: [] });
    expect(resultOf('faults', { ...faults, note: 'seed 8' }, null).line).toBe('faults: passed (seed 8)');
    expect(resultOf('faults', { ...faults, exit: 1 }, null).line).toBe('faults: FAILED, exit status 1');
  });
});

describe('summaryOf', () => {
  test('prints failures first, then each job, then the totals without separators', () => {
    const text = summaryOf([
      { line: 'unit: 2 failed, 1,200 passed', passed: 1_200, failures: ['unit: a', 'unit: b'] },
      { line: 'e2e: 34 passed', passed: 34, failures: [] },
    ]);
    expect(text.split('\n')).toEqual([
      'FAILED unit: a',
      'FAILED unit: b',
      'unit: 2 failed, 1,200 passed',
      'e2e: 34 passed',
      '1234 passed, 2 failed',
    ]);
  });

  test('prints at most 40 failures, and counts all', () => {
    const failures = Array.from({ length: 45 }, (_, i) => `unit: ${i}`);
    const lines = summaryOf([{ line: 'unit: 45 failed', passed: 0, failures }]).split('\n');
    expect(lines.filter((line) => line.startsWith('FAILED'))).toHaveLength(40);
    expect(lines.slice(40)).toEqual(['… and 5 more', 'unit: 45 failed', '0 passed, 45 failed']);
  });
});

describe('summary.ts', () => {
  test('reads the files of the job scripts, and exits with 1 for an incomplete report', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ci-summary-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const summarize = (...jobs: string[]) =>
      spawnSync(process.execPath, [join(import.meta.dirname, 'summary.ts'), folder, ...jobs], {
        encoding: 'utf8',
      });
    writeFileSync(join(folder, 'check.status'), '0\ncheck\n\n');
    writeFileSync(join(folder, 'unit.status'), '0\nunit\n\n');
    writeFileSync(
      join(folder, 'unit.json'),
      JSON.stringify({ testResults: [fileOf([testOf('passed')])] } satisfies Report),
    );
    expect(summarize('check', 'unit')).toMatchObject({
      status: 0,
      stdout: 'check: passed\nunit: 1 passed\n1 passed, 0 failed\n',
    });
    writeFileSync(join(folder, 'e2e.status'), '137\ne2e\n\n');
    writeFileSync(join(folder, 'e2e.json'), '{"testResults":[');
    const { status, stdout } = summarize('check', 'unit', 'e2e');
    expect(status).toBe(1);
    expect(stdout).toContain('e2e: FAILED, no report, exit status 137\n1 passed, 1 failed\n');
  });
});
