import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { PAGES } from './pages.ts';

/** A hash of all sources of the guide, so that an unchanged guide is not built again. `folder`: the folder of the site. */
export function stampOf(folder: string): string {
  const root = join(folder, '..');
  const siteFiles = ['build.ts', 'config.ts', 'llms.ts', 'markdown.ts', 'pages.ts', 'slug.ts', 'theme'];
  const sources = [
    ...siteFiles.map((name) => join(folder, name)),
    ...PAGES.map(({ file }) => join(root, file)),
    join(root, 'docs', 'pictures'),
    join(root, 'docs', 'screenshots'),
    join(root, 'package-lock.json'),
  ];
  const hash = createHash('sha256');
  for (const file of sources.flatMap(filesOf)) {
    hash.update(`${relative(root, file)}\0`);
    hash.update(createHash('sha256').update(readFileSync(file)).digest());
  }
  return hash.digest('hex').slice(0, 32);
}

/** Lists files in the same order on every machine. */
function filesOf(path: string): string[] {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path)
    .toSorted()
    .flatMap((name) => filesOf(join(path, name)));
}
