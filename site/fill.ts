import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filled } from './generated/index.ts';
import { PAGES } from './pages.ts';

/** Rewrites the generated parts of the pages. A test fails if one is outdated. */
const root = join(import.meta.dirname, '..');
for (const { file } of PAGES.filter((page) => existsSync(join(root, page.file)))) {
  const path = join(root, file);
  const text = readFileSync(path, 'utf8');
  const now = filled(text);
  if (now === text) continue;
  writeFileSync(path, now);
  process.stdout.write(`${file}\n`);
}
