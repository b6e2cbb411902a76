import { type Check, checkKey, checkServer, checkToken } from '../doctor/checks.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import { custom } from '../framework/declare.ts';
import { printable } from '../output/printable.ts';
import type { Paint } from '../output/paint.ts';

const MARKS = { ok: '✓', warning: '!', error: '✗', skipped: '·' } as const;
const COLORS = { ok: 'green', warning: 'yellow', error: 'red', skipped: 'dim' } as const;

export const doctor = custom('doctor', {
  help: 'Check the address, TLS, clock, API key, token, queue and sending domain, and suggest fixes',
  routes: ['GET /token', 'GET /projects/:project/home'],
  async run({ api, connection, publicUrl, output, shell, signal }) {
    const url = await publicUrl();
    const deps = { connection: await connection(), url, version: shell.version, now: shell.now, signal };
    const server = await checkServer(deps);
    const isReachable = server.length > 1;
    const more = isReachable ? [await checkKey(deps), ...(await checkToken(deps, api))] : [];
    const checks = [...server, ...more];
    await output.painted({ url, checks }, (_value, { paint }) =>
      checks.map((check) => checkLine(check, paint)).join('\n'),
    );
    return exitOf(checks);
  },
});

const NAME_WIDTH = 9;
const INDENT = ' '.repeat(NAME_WIDTH + 2);

function checkLine({ name, status, message, todo }: Check, paint: Paint): string {
  const lines = message.split('\n').map(printable).join(`\n${INDENT}`);
  const next = todo === null ? '' : `\n${INDENT}→ ${todo}`;
  return `${paint(COLORS[status], MARKS[status])} ${name.padEnd(NAME_WIDTH)}${lines}${next}`;
}

function exitOf(checks: readonly Check[]): ExitCode {
  const failed = checks.filter(({ status }) => status === 'error').map(({ name }) => name);
  if (failed.length === 0) return EXIT.ok;
  return failed.every((name) => name === 'key' || name === 'token') ? EXIT.auth : EXIT.failed;
}
