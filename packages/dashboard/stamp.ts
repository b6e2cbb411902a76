import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** What the dashboard is built of, beside its own folder: what it shares with the server, and which packages there are. */
const SOURCES = [
  'src',
  'public',
  'index.html',
  'vite.config.ts',
  'build.ts',
  '../contract/src',
  '../../package-lock.json',
];

/** The same for the same sources, wherever they lie: what was built of them need not be built again. `folder`: of the dashboard. */
export function stampOf(folder: string): string {
  const hash = createHash('sha256');
  for (const source of SOURCES)
    for (const file of filesOf(join(folder, source))) {
      hash.update(`${relative(folder, file)}\0`);
      hash.update(createHash('sha256').update(readFileSync(file)).digest());
    }
  return hash.digest('hex').slice(0, 32);
}

/** In one order on every machine. Tests change nothing of what is built. */
function filesOf(path: string): string[] {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return path.endsWith('.test.ts') ? [] : [path];
  return readdirSync(path)
    .toSorted()
    .flatMap((name) => filesOf(join(path, name)));
}
