import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CATALOGUE,
  type SettingName,
} from '../../packages/server/src/modules/workspace/projects/settings.ts';
import { parseRule } from '../../packages/server/src/modules/rules/definitions/parse.ts';
import { loadConfig } from '../../packages/server/src/main/config.ts';
import { VARIABLES } from '../../packages/server/src/main/variables.ts';
import { parsePredicate } from '../../packages/server/src/platform/predicate/parse.ts';
import { commandLine, serverProgram } from '../../site/generated/commands.ts';
import { emptyInstallation, type Installation } from '../kit/installation.ts';
import { commandsOf, misunderstood, variablesOf, wordsOf } from './commands.ts';
import { isRun, locationOf, ROOT, type Snippet, SNIPPETS, TEXTS } from './texts.ts';

/** Snippets that readers may copy are run, or at least parsed by the program that they are for. */
const CHECKED = ['sh', 'bash', 'ts', 'js', 'python', 'json', 'java'];
const PLAIN = ['', 'markdown', 'html', 'csv', 'liquid', 'xml', 'diff', 'sql'];

const of = (...languages: string[]): Snippet[] =>
  SNIPPETS.filter((snippet) => languages.includes(snippet.language) && isRun(snippet));

test('every snippet has a known language, and a snippet that is not run says why', () => {
  expect(
    SNIPPETS.filter(({ language }) => ![...CHECKED, ...PLAIN].includes(language)).map(locationOf),
  ).toEqual([]);
  const notRun = SNIPPETS.filter((snippet) => !isRun(snippet));
  expect(notRun.filter(({ info }) => !/^no-run \S+ \S+/.test(info)).map(locationOf)).toEqual([]);
});

test('no page runs the npm package `beckon`, which is not ours', () => {
  expect([...TEXTS].filter(([, text]) => /\bnpx beckon\b/.test(text)).map(([file]) => file)).toEqual([]);
});

test('every JSON snippet parses, and every rule and audience is valid', () => {
  const refused = of('json').flatMap((snippet) => {
    const problem = refusalOf(snippet.text);
    return problem === null ? [] : [`${locationOf(snippet)} ${problem}`];
  });
  expect(refused).toEqual([]);
});

function refusalOf(text: string): string | null {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    return String(error);
  }
  if ('when' in value && 'steps' in value) return faultsOf(parseRule(value));
  if ('definition' in value) return faultsOf(parsePredicate(value['definition']));
  return null;
}

function faultsOf(parsed: object): string | null {
  return 'faults' in parsed && Array.isArray(parsed.faults) ? JSON.stringify(parsed.faults) : null;
}

test('every command exists and accepts its options', async () => {
  const wrong: string[] = [];
  for (const snippet of of('sh', 'bash'))
    for (const { by, args, line } of commandsOf(snippet.text)) {
      if (by === 'unknown') wrong.push(`${locationOf(snippet)} runs an unknown program: ${line}`);
      if (by !== 'server' && by !== 'product') continue;
      const problem = await misunderstood(by === 'server' ? serverProgram() : commandLine(), args);
      if (problem !== null) wrong.push(`${locationOf(snippet)} ${line}: ${problem}`);
      for (const pair of unknownSettings(args)) wrong.push(`${locationOf(snippet)} ${pair}`);
    }
  expect(wrong).toEqual([]);
});

test('pages name commands and options that the two programs have', async () => {
  const wrong: string[] = [];
  let seen = 0;
  for (const [file, text] of TEXTS)
    for (const [, program = '', words = ''] of text.matchAll(/`(beckon(?:-server)?) ([^`|]+)`/g)) {
      seen += 1;
      const args = wordsOf(words.replaceAll('\n', ' '));
      const error = await misunderstood(program === 'beckon' ? commandLine() : serverProgram(), args);
      // A sentence may omit required arguments.
      const isPattern = words.startsWith('<');
      if (error !== null && !isPattern && !/missing|not specified/.test(error))
        wrong.push(`${file} ${program} ${words}: ${error}`);
    }
  expect(wrong).toEqual([]);
  expect(seen).toBeGreaterThan(100);
});

/** Returns the pairs of `settings set` that would be refused. The placeholder `…` is skipped. */
function unknownSettings([noun, verb, ...rest]: string[]): string[] {
  if (noun !== 'settings' || verb !== 'set') return [];
  const pairs = rest.filter((word) => word.includes('='));
  return pairs.filter((pair) => {
    const [name = '', value = ''] = pair.split('=', 2);
    return value !== '…' && CATALOGUE[name as SettingName]?.parse(value) === undefined;
  });
}

const KNOWN = new Set(VARIABLES.flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name])));
const SECRET_OF_FILE = 'k'.repeat(32);

test('every environment variable that a block sets is valid for the server, even if the block is not run', () => {
  const refused: string[] = [];
  let seen = 0;
  for (const snippet of SNIPPETS.filter(({ language }) => ['sh', 'bash', ''].includes(language))) {
    const env = Object.fromEntries(
      Object.entries(variablesOf(snippet.text)).filter(([name]) => KNOWN.has(name)),
    );
    seen += Object.keys(env).length;
    const problem = configRefusalOf(env);
    if (problem !== null) refused.push(`${locationOf(snippet)} ${problem}`);
  }
  expect(refused).toEqual([]);
  expect(seen).toBeGreaterThan(8);
});

/** An external database needs a secret key, which is on no page. */
function configRefusalOf(env: Record<string, string>): string | null {
  try {
    loadConfig({ SECRET_KEY: SECRET_OF_FILE, ...env }, () => SECRET_OF_FILE);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe('against a server', () => {
  let installation: Installation;
  let folder: string;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'beckon-snippets-'));
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    installation = await emptyInstallation();
    await installation.product('projects', 'create', 'Acme');
    const { secret } = await installation.product<{ secret: string }>('keys', 'create', '--name', 'docs');
    env = {
      ...process.env,
      BECKON_URL: installation.url,
      BECKON_API_KEY: secret,
      BECKON_WEBHOOK_SECRET: SECRET,
    };
  });
  afterAll(async () => {
    await installation.remove();
    await rm(folder, { recursive: true, force: true });
  });

  test('every request of curl is accepted', async () => {
    const calls = of('sh', 'bash').flatMap(({ text }) => commandsOf(text).filter(({ by }) => by === 'curl'));
    expect(calls.length).toBeGreaterThan(5);
    // Not every machine has uuidgen.
    const strict = `set -e
      curl() { command curl --fail-with-body -sS "$@" >/dev/null; }
      uuidgen() { '${process.execPath}' -p 'crypto.randomUUID()'; }
    `;
    const script = calls
      .map(({ line }) => line.replaceAll('http://localhost:8080', installation.url))
      .join('\n');
    expect(await run('bash', ['-c', strict + script])).toMatchObject({ code: 0, errors: '' });
  });

  test('every TypeScript snippet type-checks and runs, and every JavaScript snippet parses', async () => {
    const [typed, plain] = [of('ts'), of('js')];
    const names = typed.map((_, index) => `snippet-${index}.ts`);
    for (const [index, { text }] of typed.entries())
      await writeFile(join(folder, `snippet-${index}.ts`), text);
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig(names)));
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const checked = run(tsc, ['-p', 'tsconfig.json']);
    const runs: Promise<string | null>[] = [];
    for (const [index, snippet] of typed.entries()) runs.push(outcome(snippet, [`snippet-${index}.ts`]));
    for (const [index, snippet] of plain.entries()) {
      await writeFile(join(folder, `plain-${index}.mjs`), snippet.text);
      runs.push(outcome(snippet, ['--check', `plain-${index}.mjs`]));
    }
    expect((await Promise.all(runs)).filter((failure) => failure !== null)).toEqual([]);
    expect(await checked).toMatchObject({ code: 0, printed: '' });
  });

  async function outcome(snippet: Snippet, args: string[]): Promise<string | null> {
    const { code, errors } = await run(process.execPath, args);
    return code === 0 ? null : `${locationOf(snippet)} ended with ${code}: ${errors}`;
  }

  async function run(program: string, args: string[]) {
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [printed, errors] = ['', ''];
    child.stdout.on('data', (data: Buffer) => (printed += data.toString()));
    child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
    const [code] = (await once(child, 'close')) as [number];
    return { code, printed, errors };
  }
});

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

function tsconfig(files: string[]): object {
  return {
    extends: join(ROOT, 'tsconfig.base.json'),
    compilerOptions: { noEmit: true, composite: false, incremental: false, types: ['node'] },
    files,
  };
}
