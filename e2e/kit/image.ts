import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { productionPackages } from '../../scripts/production-packages.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** A step of a build stage: an instruction and its arguments, with continued lines joined. */
export type Step = { instruction: string; rest: string };
export type Stage = { name: string | null; steps: Step[] };

export function readDockerfile(): Stage[] {
  const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '');
  const stages: Stage[] = [];
  for (const line of text.split('\n').filter((content) => content.trim() !== '')) {
    const [instruction = '', ...words] = line.trim().split(/\s+/);
    const rest = words.join(' ');
    if (instruction === 'FROM') stages.push({ name: / AS (\S+)$/.exec(rest)?.[1] ?? null, steps: [] });
    else stages.at(-1)?.steps.push({ instruction, rest });
  }
  return stages;
}

/** Parses `COPY --from=… a b c/`: the sources, their stage and the target. */
export function readCopy(step: Step): { from: string | null; sources: string[]; to: string } {
  const words = step.rest.split(' ').filter((word) => !word.startsWith('--'));
  const from = /--from=(\S+)/.exec(step.rest)?.[1] ?? null;
  return { from, sources: words.slice(0, -1), to: words.at(-1) ?? '' };
}

/** Lays out the last stage's files in a directory in place of `/`, as `docker build` would from this working tree. */
export function layOut(): string {
  const image = mkdtempSync(join(tmpdir(), 'beckon-image-'));
  chmodSync(image, 0o755);
  const app = join(image, 'app');
  mkdirSync(app);
  for (const step of readDockerfile().at(-1)?.steps ?? []) {
    if (step.instruction !== 'COPY') continue;
    const { from, sources, to } = readCopy(step);
    if (from === 'dependencies') linkPackages(app);
    else
      for (const source of sources) {
        const path = join(ROOT, source.replace(/^\/app\//, ''));
        const isFolder = to.endsWith('/');
        const target = to.startsWith('/') ? join(image, to) : join(app, to);
        // Trying the server does not require the guide, which takes long to build.
        if (from === 'built' && !existsSync(path)) continue;
        copy(path, isFolder ? join(target, path.slice(dirname(path).length + 1)) : target);
      }
  }
  for (const program of ['beckon', 'beckon-server']) {
    const wrapper = join(image, 'usr/local/bin', program);
    writeFileSync(wrapper, readFileSync(wrapper, 'utf8').replace('/app/', `${app}/`), { mode: 0o755 });
  }
  // As in the image: the checkout may be in a directory that only its owner can enter.
  link([process.execPath, join(image, 'usr/local/bin/node')]);
  return image;
}

function copy(from: string, to: string): void {
  if (!existsSync(from)) throw new Error(`the image would need ${from}`);
  cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith('.test.ts') });
}

/** Uses hard links: Node.js resolves packages from a file's real path, which has to be in this directory. */
function linkPackages(app: string): void {
  const { needed } = productionPackages(join(ROOT, 'package-lock.json'));
  for (const folder of ['server', 'postgres', 'contract', 'cli', 'client'].map(
    (name) => `packages/${name}`,
  )) {
    mkdirSync(join(app, folder), { recursive: true });
    cpSync(join(ROOT, folder, 'package.json'), join(app, folder, 'package.json'));
  }
  cpSync(join(ROOT, 'package.json'), join(app, 'package.json'));
  // An outer package includes the packages inside it, so those need no links of their own.
  const packagePaths = [...needed].filter(
    (path) => path.includes('node_modules/') && existsSync(join(ROOT, path)),
  );
  const outer = packagePaths.filter((path) => !packagePaths.some((other) => path.startsWith(`${other}/`)));
  link(['--parents', ...outer, app]);
}

/** Links, or copies if the target is on another file system. */
function link(args: string[]): void {
  try {
    execFileSync('cp', ['-al', ...args], { cwd: ROOT, stdio: 'ignore' });
  } catch {
    execFileSync('cp', ['-a', ...args], { cwd: ROOT });
  }
}
