import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** The sources of the build, relative to the dashboard's folder: its own files, the contract and the package versions. */
const SOURCES = [
  'src',
  'public',
  'index.html',
  'vite.config.ts',
  'build.ts',
  '../contract/src',
  '../../package-lock.json',
];

/** Returns a hash of the sources, whatever their folder, so that unchanged sources are not built again. `folder`: the dashboard's. */
export function stampOf(folder: string): string {
  const hash = createHash('sha256');
  for (const source of SOURCES)
    for (const file of filesOf(join(folder, source))) {
      hash.update(`${relative(folder, file)}\0`);
      hash.update(createHash('sha256').update(readFileSync(file)).digest());
    }
  return hash.digest('hex').slice(0, 32);
}

/** Lists files in the same order on every machine, without tests, because they do not affect the build. */
function filesOf(path: string): string[] {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return path.endsWith('.test.ts') ? [] : [path];
  return readdirSync(path)
    .toSorted()
    .flatMap((name) => filesOf(join(path, name)));
}
