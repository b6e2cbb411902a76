import type { Command } from 'commander';
import { type Check, checkKey, checkServer, checkToken } from '../doctor/checks.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import { printable } from '../output/printable.ts';
import { action, type Running } from '../run.ts';
import type { Shell } from '../shell.ts';

const MARKS = { ok: '✓', warning: '!', error: '✗', skipped: '·' } as const;
const COLOURS = { ok: 'green', warning: 'yellow', error: 'red', skipped: 'dim' } as const;

export function addDoctor(program: Command, shell: Shell): void {
  program
    .command('doctor')
    .description('look at everything that has to be right: address, TLS, clock, key, token, queue, domain')
    .action(action(shell, doctor));
}

async function doctor({ connection, dashboard, shell, signal, output }: Running<object>): Promise<ExitCode> {
  const deps = { connection: await connection(), version: shell.version, now: shell.now, signal };
  const server = await checkServer(deps);
  const isThere = server.length > 1;
  const more = isThere ? [await checkKey(deps), ...(await checkToken(deps, dashboard))] : [];
  signal.throwIfAborted();
  const checks = [...server, ...more];
  await output.one({ url: deps.connection.url, checks }, () => checks.map(show).join('\n'));
  return exitOf(checks);

  function show({ name, status, message, todo }: Check): string {
    const mark = output.paint(COLOURS[status], MARKS[status]);
    const lines = message
      .split('\n')
      .map(printable)
      .join(`\n${' '.repeat(INDENT)}`);
    const next = todo === null ? '' : `\n${' '.repeat(INDENT)}→ ${todo}`;
    return `${mark} ${name.padEnd(NAME_WIDTH)}${lines}${next}`;
  }
}

const NAME_WIDTH = 9;
const INDENT = NAME_WIDTH + 2;

function exitOf(checks: readonly Check[]): ExitCode {
  const wrong = checks.filter(({ status }) => status === 'error').map(({ name }) => name);
  if (wrong.length === 0) return EXIT.ok;
  return wrong.every((name) => name === 'key' || name === 'token') ? EXIT.auth : EXIT.failed;
}
