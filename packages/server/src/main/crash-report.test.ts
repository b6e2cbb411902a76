import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const HERE = new URL('.', import.meta.url);

/** Returns the output of a process that ends with this code. */
function endedBy(body: string): { status: number | null; said: string } {
  const source = `
    import { inPlainWords, lastWords } from '${new URL('crash-report.ts', HERE).href}';
    import { createLog } from '${new URL('../platform/log.ts', HERE).href}';
    const refused = Object.assign(new Error('duplicate key value'), { code: '23505', detail: 'Key (email)=(reader@home.test) exists' });
    lastWords((error) => process.stderr.write(inPlainWords(error)));
    ${body}
  `;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    encoding: 'utf8',
  });
  return { status, said: stdout + stderr };
}

test.for<[string, string]>([
  ['thrown in a timer callback', 'setImmediate(() => { throw refused; });'],
  ['a rejected promise without a handler', 'void Promise.reject(refused); setTimeout(() => {}, 60_000);'],
  ['thrown by the program itself', 'await null; throw refused;'],
])('reports an uncaught error without the values of rows, and ends the process: %s', ([, body]) => {
  const { status, said } = endedBy(body);
  expect(status).toBe(1);
  expect(said).toContain('duplicate key value');
  expect(said).toContain('23505');
  expect(said).not.toContain('reader@home.test');
});

test('a server logs it as one line', () => {
  const { status, said } = endedBy(
    `const log = createLog('info'); lastWords((error) => log.error({ err: error }, 'process.failed')); setImmediate(() => { throw refused; });`,
  );
  expect(status).toBe(1);
  expect(JSON.parse(said)).toMatchObject({ event: 'process.failed', err: { code: '23505' } });
  expect(said).not.toContain('reader@home.test');
});

test('a failing report ends the process too', () => {
  const { status } = endedBy(
    `lastWords(() => { throw new Error('no words'); }); setImmediate(() => { throw refused; });`,
  );
  expect(status).toBe(1);
});
