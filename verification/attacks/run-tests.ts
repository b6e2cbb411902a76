import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding, Target } from './attack.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const MINUTES_MAX = 20;

type TestReport = {
  numTotalTests: number;
  numPassedTests: number;
  numPendingTests: number;
  testResults: {
    name: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages?: string[] }[];
  }[];
};

/** Runs tests that the suite already has and counts them, so that no proof is written twice. */
export async function runTests(target: Target, files: string[], config?: string): Promise<Finding[]> {
  const report = join(target.dir, `tests-${crypto.randomUUID()}.json`);
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...files,
    '--reporter=json',
    `--outputFile=${report}`,
  ];
  if (config !== undefined) args.push('--config', config);
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'ignore'],
    timeout: MINUTES_MAX * 60_000,
  });
  const [code] = (await once(child, 'close')) as [number | null];
  const testReport = readReport(report);
  if (!testReport)
    return [{ severity: 'high', title: `the tests did not run (exit ${code})`, evidence: files.join(' ') }];
  const missing = files.filter((file) => !testReport.testResults.some(({ name }) => name.includes(file)));
  target.count('tests of the suite', testReport.numPassedTests);
  if (testReport.numPendingTests > 0)
    target.note(`${testReport.numPendingTests} tests of the suite were skipped`);
  const failed = testReport.testResults.flatMap(({ name, message, assertionResults }) => {
    const tests = assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName }) => fullName);
    const broken = tests.length === 0 && message !== '' ? [message.slice(0, 500)] : [];
    return [...tests, ...broken].map((test) => ({ test, file: name.replace(ROOT, '') }));
  });
  return [
    ...missing.map((file): Finding => ({ severity: 'high', title: `no such tests: ${file}` })),
    ...failed.map(({ test, file }): Finding => ({
      severity: 'high',
      title: `a test fails: ${test}`,
      evidence: file,
    })),
  ];
}

function readReport(path: string): TestReport | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as TestReport;
  } catch {
    return null;
  }
}
