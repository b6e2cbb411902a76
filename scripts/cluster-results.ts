import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** Names the file that receives the results. */
export const RESULTS_VARIABLE = 'BECKON_CLUSTER_RESULTS';

/** The result of a test file. `failures`: the names of the tests that failed, and the first line of each error. */
export type FileResult = {
  file: string;
  state: 'passed' | 'failed' | 'skipped';
  passed: number;
  skipped: number;
  failures: string[];
};

/** Writes the result of each test file as soon as it is known, so that an interrupted run can be continued. */
export default class ClusterReporter implements Reporter {
  onTestModuleEnd(module: TestModule): void {
    const result = fileResult(module);
    const path = process.env[RESULTS_VARIABLE];
    if (path) appendFileSync(path, `${JSON.stringify(result)}\n`);
    const { file, state, passed, skipped, failures } = result;
    console.log(`${state} ${file}: ${passed} passed, ${failures.length} failed, ${skipped} skipped`);
    for (const failure of failures) console.log(`  ${failure}`);
  }
}

function fileResult(module: TestModule): FileResult {
  const tests = [...module.children.allTests()];
  const failures = tests.flatMap((test) => {
    const result = test.result();
    return result.state === 'failed' ? [`${test.name}: ${firstLine(result.errors?.[0]?.message)}`] : [];
  });
  const errors = module.errors().map(({ message }) => `the file: ${firstLine(message)}`);
  const state = module.state();
  return {
    file: relative(process.cwd(), module.moduleId),
    state: state === 'passed' || state === 'skipped' ? state : 'failed',
    passed: tests.filter((test) => test.result().state === 'passed').length,
    skipped: tests.filter((test) => test.result().state === 'skipped').length,
    failures: [...errors, ...failures],
  };
}

function firstLine(text = ''): string {
  return text.split('\n', 1)[0] ?? '';
}
