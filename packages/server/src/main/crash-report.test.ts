import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const HERE = new URL('.', import.meta.url);

/** Returns the output of a process that ends with this code. */
function endedBy(body: string): { status: number | null; output: string } {
  const source = `
    import { describeCrash, reportCrash } from '${new URL('crash-report.ts', HERE).href}';
    import { createLog } from '${new URL('../platform/log.ts', HERE).href}';
    const refused = Object.assign(new Error('duplicate key value'), { code: '23505', detail: 'Key (email)=(reader@home.test) exists' });
    reportCrash((error) => process.stderr.write(describeCrash(error)));
    ${body}
  `;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

test.for<[string, string]>([
  ['thrown in a timer callback', 'setImmediate(() => { throw refused; });'],
  ['a rejected promise without a handler', 'void Promise.reject(refused); setTimeout(() => {}, 60_000);'],
  ['thrown by the program itself', 'await null; throw refused;'],
])('reports an uncaught error without the values of rows, and ends the process: %s', ([, body]) => {
  const { status, output } = endedBy(body);
  expect(status).toBe(1);
  expect(output).toContain('duplicate key value');
  expect(output).toContain('23505');
  expect(output).not.toContain('reader@home.test');
});

test('a server logs it as one line', () => {
  const { status, output } = endedBy(
    `const log = createLog('info'); reportCrash((error) => log.error({ err: error }, 'process.failed')); setImmediate(() => { throw refused; });`,
  );
  expect(status).toBe(1);
  expect(JSON.parse(output)).toMatchObject({ event: 'process.failed', err: { code: '23505' } });
  expect(output).not.toContain('reader@home.test');
});

test('a failing report ends the process too', () => {
  const { status } = endedBy(
    `reportCrash(() => { throw new Error('no words'); }); setImmediate(() => { throw refused; });`,
  );
  expect(status).toBe(1);
});
