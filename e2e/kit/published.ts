import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const RUNTIMES = join(import.meta.dirname, '..', 'runtimes');
const INSTALLED_WITHIN_MS = 90_000;

export type Runtime = { name: string; program: string };

/** Returns Node.js 20, 22 and 24 if npm can install them, and the version that runs the tests. */
export function findRuntimes(): Runtime[] {
  const programs = (): Runtime[] =>
    [20, 22, 24]
      .map((major) => ({
        name: `Node.js ${major}`,
        program: join(RUNTIMES, `node_modules/node-${major}/bin/node`),
      }))
      .filter(({ program }) => existsSync(program));
  if (programs().length === 0)
    spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: RUNTIMES, timeout: INSTALLED_WITHIN_MS });
  return [...programs(), { name: 'Node.js 26', program: process.execPath }];
}

/** Creates an empty project with the two packages as npm packs them, and with their dependencies. */
export function projectWithPackages(): string {
  const project = mkdtempSync(join(tmpdir(), 'beckon-project-'));
  for (const name of ['client', 'cli']) {
    const target = join(project, 'node_modules/@beckon', name);
    mkdirSync(target, { recursive: true });
    const dist = join(ROOT, 'packages', name, 'dist');
    execFileSync('npm', ['pack', '--silent', '--pack-destination', target], { cwd: dist });
    const packed = readdirSync(target).find((file) => file.endsWith('.tgz')) ?? '';
    execFileSync('tar', ['-xzf', packed, '--strip-components=1'], { cwd: target });
    execFileSync('rm', [packed], { cwd: target });
  }
  const { dependencies } = JSON.parse(
    readFileSync(join(project, 'node_modules/@beckon/cli/package.json'), 'utf8'),
  ) as { dependencies: Record<string, string> };
  for (const name of Object.keys(dependencies).filter((candidate) => !candidate.startsWith('@beckon/'))) {
    const link = join(project, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(findPackage(name), link);
  }
  return project;
}

/** Resolves a package as the sources of the command line do. */
function findPackage(name: string): string {
  const paths = createRequire(join(ROOT, 'packages/cli/src/main.ts')).resolve.paths(name) ?? [];
  const found = paths.map((path) => join(path, name)).find(existsSync);
  if (found === undefined) throw new Error(`${name} is not installed`);
  return found;
}

export type Ran = { code: number | null; out: string; err: string };

/** Runs a program with a home directory of its own, so that its files are deleted with the project. */
export function run(program: string, args: string[], options: { cwd: string; env?: object }): Promise<Ran> {
  const env = { PATH: process.env.PATH, HOME: options.cwd, ...options.env };
  const child = spawn(program, args, { cwd: options.cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { out: '', err: '' };
  child.stdout.on('data', (data: Buffer) => (output.out += data.toString()));
  child.stderr.on('data', (data: Buffer) => (output.err += data.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...output }));
  });
}
