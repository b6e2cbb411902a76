import { execFile } from 'node:child_process';
import { appendFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileResult, readIfPresent } from '../files.ts';
import { custom } from '../framework/declare.ts';
import { SAMPLE } from '../sample.ts';
import { canPrompt } from '../shell.ts';

const ENV_FILE = '.env';
const SAMPLE_FILE = 'beckon-sample.mjs';
const OWNER_ONLY = 0o600;

type Change = 'created' | 'completed' | 'unchanged';
type Written = { env: Change; sample: Change; env_is_ignored: boolean | null };

export const init = custom('init', {
  help: 'Write the .env lines that the client reads, and a sample that runs',
  async run({ connection, publicUrl, shell, output, options }) {
    const { apiKey } = await connection();
    const key = (shell.env['BECKON_API_KEY'] ?? '').trim();
    const hasKey = key !== '' || canPrompt(shell, options.json);
    const lines = { BECKON_URL: await publicUrl(), BECKON_API_KEY: hasKey ? await apiKey() : '' };
    const written: Written = {
      env: await writeEnv(join(shell.cwd, ENV_FILE), lines),
      sample: await writeNew(join(shell.cwd, SAMPLE_FILE), SAMPLE),
      env_is_ignored: await isIgnored(shell.cwd),
    };
    await output.value(written, (value) => describe(value, hasKey));
  },
});

function describe({ env, sample, env_is_ignored }: Written, hasKey: boolean): string {
  return [
    `${ENV_FILE}  ${env}`,
    `${SAMPLE_FILE}  ${sample}`,
    ...(hasKey ? [] : [`Add your API key to ${ENV_FILE}: BECKON_API_KEY=sk_…`]),
    ...(env_is_ignored === false
      ? [`Git does not ignore ${ENV_FILE}. Add it to .gitignore before you commit.`]
      : []),
    `Next: npm install @beckon/client && node --env-file=${ENV_FILE} ${SAMPLE_FILE}`,
  ].join('\n');
}

/** Adds the missing lines; an existing one stays as it is. */
async function writeEnv(path: string, lines: Record<string, string>): Promise<Change> {
  const before = await readIfPresent(path);
  const missing = Object.entries(lines)
    .filter(([name]) => !new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`, 'm').test(before ?? ''))
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
  if (missing === '') return 'unchanged';
  if (before === null) {
    await writeFile(path, missing, { flag: 'wx', mode: OWNER_ONLY });
    return 'created';
  }
  await appendFile(path, before === '' || before.endsWith('\n') ? missing : `\n${missing}`);
  return 'completed';
}

async function writeNew(path: string, text: string): Promise<Change> {
  const written = writeFile(path, text, { flag: 'wx' }).then(
    (): Change => 'created',
    (error: NodeJS.ErrnoException): Change => {
      if (error.code === 'EEXIST') return 'unchanged';
      throw error;
    },
  );
  return fileResult('write', path, written);
}

/** Null when this folder is not in a git repository. */
async function isIgnored(folder: string): Promise<boolean | null> {
  try {
    await promisify(execFile)('git', ['check-ignore', '-q', ENV_FILE], { cwd: folder });
    return true;
  } catch (error) {
    // Exit code 1 means not ignored; any other code means no repository, or no git.
    return (error as { code?: unknown }).code === 1 && (await stat(folder)).isDirectory() ? false : null;
  }
}
