import { execFile } from 'node:child_process';
import { appendFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { API_KEY_PATTERN } from '@beckon/contract';
import type { Command } from 'commander';
import { Failure } from '../failure.ts';
import { action, type Running } from '../run.ts';
import { SAMPLE } from '../sample.ts';
import type { Shell } from '../shell.ts';

const ENV_FILE = '.env';
const SAMPLE_FILE = 'beckon-sample.mjs';
const OWNER_ONLY = 0o600;

type Written = 'made' | 'completed' | 'kept';
type Initialised = { env: Written; sample: Written; env_is_ignored: boolean | null };

export function addInit(program: Command, shell: Shell): void {
  program
    .command('init')
    .description(
      'in the folder of your project: the lines of .env that the client reads, and a sample that runs',
    )
    .action(action(shell, init));
}

async function init({ connection, shell, output }: Running<object>): Promise<void> {
  const { url, apiKey } = await connection();
  const key = (shell.env['BECKON_API_KEY'] ?? '').trim();
  const isAsked = key === '' && shell.stdin.isTerminal && shell.stderr.isTerminal;
  const lines = {
    BECKON_URL: url,
    BECKON_API_KEY: isAsked || key !== '' ? await apiKey() : '',
  };
  const done: Initialised = {
    env: await writeEnv(join(shell.cwd, ENV_FILE), lines),
    sample: await writeNew(join(shell.cwd, SAMPLE_FILE), SAMPLE),
    env_is_ignored: await isIgnored(shell.cwd),
  };
  await output.one(done, (value) => describe(value, API_KEY_PATTERN.test(lines.BECKON_API_KEY)));
}

function describe({ env, sample, env_is_ignored }: Initialised, hasKey: boolean): string {
  return [
    `${ENV_FILE}  ${WORDS[env]}`,
    `${SAMPLE_FILE}  ${WORDS[sample]}`,
    ...(hasKey ? [] : [`Put your API key into ${ENV_FILE}: BECKON_API_KEY=sk_…`]),
    ...(env_is_ignored === false
      ? [`${ENV_FILE} is not ignored by git: add it to .gitignore before you commit`]
      : []),
    `Then: npm install @beckon/client && node --env-file=${ENV_FILE} ${SAMPLE_FILE}`,
  ].join('\n');
}

const WORDS: Record<Written, string> = {
  made: 'is made',
  completed: 'has the lines that it did not have',
  kept: 'was there, and is as it was',
};

/** A line that is there stays, whatever it says. */
async function writeEnv(path: string, lines: Record<string, string>): Promise<Written> {
  const before = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new Failure('file_unreadable', `${path} cannot be read: ${error.message}`, { cause: error });
  });
  const missing = Object.entries(lines)
    .filter(([name]) => !new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`, 'm').test(before ?? ''))
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
  if (missing === '') return 'kept';
  if (before === null) {
    await writeFile(path, missing, { flag: 'wx', mode: OWNER_ONLY });
    return 'made';
  }
  await appendFile(path, before === '' || before.endsWith('\n') ? missing : `\n${missing}`);
  return 'completed';
}

async function writeNew(path: string, text: string): Promise<Written> {
  try {
    await writeFile(path, text, { flag: 'wx' });
    return 'made';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return 'kept';
    throw new Failure('file_unwritable', `${path} cannot be written: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Null: there is no git here, and so nothing to be careful about. */
async function isIgnored(folder: string): Promise<boolean | null> {
  try {
    await promisify(execFile)('git', ['check-ignore', '-q', ENV_FILE], { cwd: folder });
    return true;
  } catch (error) {
    // 1: it is not ignored; anything else: no repository, or no git.
    return (error as { code?: unknown }).code === 1 && (await stat(folder)).isDirectory() ? false : null;
  }
}
