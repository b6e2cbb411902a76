import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * `node scripts/ci/summary.ts DIRECTORY JOB …` prints the failed tests by name, the result of each job, and `N passed, N failed`. It
 * reads the exit statuses and vitest reports that the scripts in `.ci` stored in the directory.
 */

/** The parts of the report of vitest's JSON reporter that are read here. */
export type Report = {
  testResults: {
    /** The path of the test file. */
    name: string;
    status: 'passed' | 'failed';
    /** The error that failed the file itself, such as one in an import or a `beforeAll`. */
    message: string;
    assertionResults: {
      ancestorTitles: string[];
      title: string;
      /** `pending` is a test that did not finish because its worker crashed. */
      status: 'passed' | 'failed' | 'skipped' | 'todo' | 'pending';
      failureMessages: string[];
    }[];
  }[];
};

/** The result that a job script stored. `note` is for the reader, and may be empty. */
export type Outcome = { exit: number | 'skipped'; title: string; note: string };

/** `passed` counts tests, and is 0 for a job without a report. Each failure is a text for the reader. */
export type Result = { line: string; passed: number; failures: string[] };

/** Jobs that run vitest and therefore have a report. */
const SUITES = new Set(['unit', 'e2e', 'docs', 'postgres']);
const SHOWN_FAILURES = 40;
const MESSAGE_LENGTH = 200;

export function resultOf(job: string, outcome: Outcome | null, report: Report | null): Result {
  if (outcome === null) return failed(job, 'the job ended without a result');
  const { exit, title, note } = outcome;
  if (exit === 'skipped') return { line: `${title}: skipped, ${note}`, passed: 0, failures: [] };
  if (!SUITES.has(job))
    return exit === 0
      ? { line: `${title}: passed${note && ` (${note})`}`, passed: 0, failures: [] }
      : failed(title, `exit status ${exit}${note && `, ${note}`}`);
  if (report === null) return failed(title, note || `no report, exit status ${exit}`);
  return suiteResult(title, exit, report);
}

function failed(title: string, reason: string): Result {
  return { line: `${title}: FAILED, ${reason}`, passed: 0, failures: [`${title}: ${reason}`] };
}

function suiteResult(title: string, exit: number, { testResults }: Report): Result {
  const statuses = testResults.flatMap(({ assertionResults }) =>
    assertionResults.map(({ status }) => status),
  );
  const passed = statuses.filter((status) => status === 'passed').length;
  const skipped = statuses.filter((status) => status === 'skipped' || status === 'todo').length;
  const failures = testResults.flatMap(failuresOf).map((failure) => `${title}: ${failure}`);
  // Vitest reports an unhandled rejection by its exit status alone.
  if (failures.length === 0 && exit !== 0)
    failures.push(`${title}: exit status ${exit} without a failed test, see the errors in the log`);
  if (failures.length === 0 && passed === 0) failures.push(`${title}: no test ran`);
  const counts = [
    ...(failures.length === 0 ? [] : [`${format(failures.length)} failed`]),
    `${format(passed)} passed`,
    ...(skipped === 0 ? [] : [`${format(skipped)} skipped`]),
  ];
  return { line: `${title}: ${counts.join(', ')}`, passed, failures };
}

function failuresOf({ name, status, message, assertionResults }: Report['testResults'][number]): string[] {
  const file = relative(process.cwd(), name);
  const tests = assertionResults
    .filter((test) => test.status === 'failed' || test.status === 'pending')
    .map((test) => {
      const reason = test.status === 'pending' ? 'did not finish' : firstLine(test.failureMessages[0] ?? '');
      return [[file, ...test.ancestorTitles, test.title].join(' > '), reason].join('\n    ');
    });
  if (tests.length > 0 || status === 'passed') return tests;
  // An error in an import or a hook fails the file but none of its tests.
  return [`${file}\n    ${firstLine(message) || 'failed outside of its tests'}`];
}

function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '').slice(0, MESSAGE_LENGTH);
}

function format(count: number): string {
  return count.toLocaleString('en-US');
}

/** The last line has the form `N passed, N failed`, without separators, for programs that read it. */
export function summaryOf(results: Result[]): string {
  const failures = results.flatMap((result) => result.failures);
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  const hidden = failures.length - SHOWN_FAILURES;
  return [
    ...failures.slice(0, SHOWN_FAILURES).map((failure) => `FAILED ${failure}`),
    ...(hidden > 0 ? [`… and ${hidden} more`] : []),
    ...results.map(({ line }) => line),
    `${passed} passed, ${failures.length} failed`,
  ].join('\n');
}

function readOutcome(file: string): Outcome | null {
  if (!existsSync(file)) return null;
  const [exit = '', title = '', note = ''] = readFileSync(file, 'utf8').split('\n');
  return { exit: exit === 'skipped' ? exit : Number(exit), title, note };
}

/** Returns null for a report that is missing or incomplete, because vitest was killed. */
function readReport(file: string): Report | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch {
    return null;
  }
}

if (import.meta.main) {
  const [, , directory = '', ...jobs] = process.argv;
  const results = jobs.map((job) =>
    resultOf(job, readOutcome(join(directory, `${job}.status`)), readReport(join(directory, `${job}.json`))),
  );
  console.log(summaryOf(results));
  process.exitCode = results.every(({ failures }) => failures.length === 0) ? 0 : 1;
}
