import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../packages/server/testing/servers/free-port.ts';
import { fencesOf } from '../../site/markdown.ts';
import { ROOT, TEXTS } from './texts.ts';

const PORT = 8080;
const [first = '', second = '', sampleOutput = ''] = fencesOf(TEXTS.get('README.md') ?? '').map(
  ({ text }) => text,
);

/** Returns an environment in which it is this hour, in UTC, for Node.js programs. */
function envAt(hour: number): NodeJS.ProcessEnv {
  const now = new Date();
  const targetMs = new Date(now).setUTCHours(hour, 0, 0, 0);
  return {
    NODE_OPTIONS: `--import ${pathToFileURL(join(ROOT, 'e2e/kit/shift-clock.mjs')).href}`,
    SHIFT_CLOCK_MS: String(targetMs - now.getTime()),
  };
}

test.each([12, 23])(
  'the blocks of the README end with the email in the test inbox, at %d:00',
  async (hour) => {
    expect(first.trim()).toBe('npm ci && npm start');
    const folder = await freshCheckout();
    const port = await portOf();
    const asPasted = (text: string): string =>
      // Packages are installed already, a port that is in use is replaced, and a busy machine gets more time to send.
      text.replace('npm ci', 'true').replaceAll(`:${PORT}`, `:${port}`).replace('sleep 15', 'sleep 30');
    const env = { ...process.env, ...envAt(hour), ...(port === PORT ? {} : { PORT: String(port) }) };

    const server = spawn('bash', ['-c', asPasted(first)], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
      // npm, its shell and the server end together.
      detached: true,
    });
    onTestFinished(() => end(server));
    expect(await saysReady(server)).toContain(`Beckon is ready at http://localhost:${port}`);

    const shell = spawn('bash', ['-c', asPasted(second)], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const chunks: Buffer[] = [];
    shell.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    const [code] = (await once(shell, 'close')) as [number];
    expect(code).toBe(0);
    const printed = Buffer.concat(chunks).toString();
    expect(printed.split('Welcome to Acme')).toHaveLength(3);
    // The README shows what such a run printed.
    expect(withoutChance(printed)).toBe(withoutChance(sampleOutput));
    const deadline = new Date(/\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(printed)?.[0] ?? '');
    expect(deadline.getUTCHours()).toBe((hour + 2) % 24);
  },
);

/** Copies everything except `data` and `.git`, so that no data of others is included. */
async function freshCheckout(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'beckon-readme-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  // When started as root, PostgreSQL runs under another account, which needs access.
  await chmod(folder, 0o755);
  const names = (await readdir(ROOT)).filter((name) => name !== 'data' && name !== '.git');
  for (const name of names) await symlink(join(ROOT, name), join(folder, name));
  return folder;
}

async function portOf(): Promise<number> {
  const probe = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    probe
      .once('error', () => resolve(false))
      .listen(PORT, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
  return isFree ? PORT : freePort();
}

async function saysReady(server: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: server.stdout as NodeJS.ReadableStream })) {
    if (!line.startsWith('Beckon is ready')) continue;
    server.stdout?.resume();
    return line;
  }
  throw new Error('the server did not start');
}

async function end(server: ChildProcess): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, 'exit');
  process.kill(-server.pid, 'SIGTERM');
  await gone;
}

function withoutChance(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .trim();
}
