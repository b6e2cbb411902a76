import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { newPerson, openBrowser } from '../e2e/kit/browser.ts';
import { approveFirstDraft, seeFirstEmail, setUp, zoneWhereItIs } from '../e2e/kit/first-email.ts';
import { freePort } from '../packages/server/testing/servers/free-port.ts';

/**
 * Measures how long a new user takes from `git clone` to the first email, by step: `npm run first-email`, optionally with the URL of a
 * repository. Uncommitted changes are not included. It needs Chromium, and npm downloads the packages from the registry.
 */
const [repository = fileURLToPath(new URL('..', import.meta.url))] = process.argv.slice(2);
const PAGE_MS = 300_000;

const folder = await mkdtemp(join(tmpdir(), 'beckon-first-email-'));
const clone = join(folder, 'beckon');
const env = {
  ...outsideOfNpm(),
  DATA_DIR: join(folder, 'data'),
  MAIL_IN_PORT: '0',
  PORT: `${await freePort()}`,
};
const steps: [string, number][] = [];
let server: ChildProcess | undefined;
try {
  await step('git clone', () =>
    run('git', ['clone', '--quiet', '--no-hardlinks', repository, clone], folder),
  );
  await step('npm ci', () => run('npm', ['ci', '--silent'], clone));
  const setupLink = await step('npm start', start);
  const browser = await openBrowser();
  try {
    const { page } = await newPerson(browser, { timeZone: zoneWhereItIs(10) });
    await useIt(page, setupLink);
  } finally {
    await browser.close();
  }
  const total = steps.reduce((sum, [, seconds]) => sum + seconds, 0);
  console.log(`${total.toFixed(1).padStart(7)} s from the clone to the email`);
} finally {
  await end();
  await rm(folder, { recursive: true, force: true });
}

async function useIt(page: Page, setupLink: string): Promise<void> {
  page.setDefaultTimeout(PAGE_MS);
  await step('the page of the link', async () => {
    await page.goto(setupLink);
    await page.getByLabel('Your email').waitFor();
  });
  const shell = (text: string): Promise<string> => run('bash', ['-c', text], folder);
  const actions = await step('set-up and first call', () => setUp(page, { setupLink, shell }));
  await step('Approve, test inbox', async () => {
    await approveFirstDraft(page, actions);
    await seeFirstEmail(page);
  });
  console.log(`        ${actions.log.length} actions: ${actions.log.join(', ')}`);
}

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await work();
  const seconds = (performance.now() - startedAt) / 1_000;
  steps.push([name, seconds]);
  console.log(`${seconds.toFixed(1).padStart(7)} s ${name}`);
  return result;
}

/** Starts the server, waits until it is ready, and returns the link that it prints. */
async function start(): Promise<string> {
  server = spawn('npm', ['start'], {
    cwd: clone,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    // npm, its shell and the server end together.
    detached: true,
  });
  const printed: string[] = [];
  for await (const line of createInterface({ input: server.stdout as NodeJS.ReadableStream })) {
    printed.push(line);
    const link = /https?:\S+\/setup\?\S+/.exec(printed.join('\n'))?.[0];
    if (link === undefined || !printed.some((printedLine) => printedLine.includes('Beckon is ready')))
      continue;
    server.stdout?.resume();
    return link;
  }
  throw new Error(`npm start ended: ${printed.join('\n')}`);
}

async function end(): Promise<void> {
  if (server?.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, 'exit');
  process.kill(-server.pid, 'SIGTERM');
  await gone;
}

async function run(program: string, args: string[], cwd: string): Promise<string> {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}`);
  return Buffer.concat(chunks).toString();
}

/** Returns the environment of a new user: without the variables that npm sets for its scripts, and without this clone's Node.js. */
function outsideOfNpm(): NodeJS.ProcessEnv {
  const variables = Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD$|NODE$)/i.test(name));
  const path = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'));
  return { ...Object.fromEntries(variables), PATH: path.join(delimiter) };
}
