import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filled } from './generated/index.ts';
import { PAGES } from './pages.ts';

/** Writes the parts of the pages that are made of the program anew; a test holds that none is behind. */
const root = join(import.meta.dirname, '..');
for (const { file } of PAGES.filter((page) => existsSync(join(root, page.file)))) {
  const place = join(root, file);
  const text = readFileSync(place, 'utf8');
  const now = filled(text);
  if (now === text) continue;
  writeFileSync(place, now);
  process.stdout.write(`${file}\n`);
}
