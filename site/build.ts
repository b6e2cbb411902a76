import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'vitepress';
import { shortIndex, wholeText } from './llms.ts';
import { asPage, linksOf } from './markdown.ts';
import { type GuidePage, PAGES } from './pages.ts';
import { stampOf } from './stamp.ts';

/**
 * Builds the guide into `site/dist`, of the Markdown in `docs/`: beside it first, and then in its place. `--base /` is for a host
 * of its own; without it the guide is for `/guide/` of a server. A link that leads nowhere fails the build.
 */
const { values } = parseArgs({
  options: { base: { type: 'string', default: '/guide/' }, out: { type: 'string' } },
});
const { base } = values;
if (!/^\/(?:[\w.-]+\/)*$/.test(base)) throw new Error('--base is a path such as /guide/, or /');

const folder = import.meta.dirname;
const root = join(folder, '..');
const place = values.out ?? join(folder, 'dist');
// Several of one checkout may be built at the same time.
const work = join(folder, 'dist-next', String(process.pid));
const [staged, made] = [join(work, 'pages'), join(work, 'made')];

// Whoever starts it may be a test.
process.env.NODE_ENV = 'production';
const stamp = stampOf(folder);
const texts = new Map(
  PAGES.map((page) => [page, asPage(readFileSync(join(root, page.file), 'utf8'), page.file)]),
);

try {
  stage();
  await build(staged);
  finish();
  replace();
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** What the builder wants: pages, pictures and its settings under one roof. */
function stage(): void {
  for (const [page, text] of texts) write(join(staged, `${page.path}.md`), text);
  for (const name of ['pictures', 'screenshots'])
    cpSync(join(root, 'docs', name), join(staged, name), { recursive: true });
  mkdirSync(join(staged, 'public'), { recursive: true });
  cpSync(join(root, 'packages/dashboard/public/beckon.svg'), join(staged, 'public', 'beckon.svg'));
  const options = JSON.stringify({ base, outDir: made });
  const own = (name: string): string => JSON.stringify(join(folder, name));
  write(
    join(staged, '.vitepress/config.ts'),
    `import { siteConfig } from ${own('config.ts')};\nexport default siteConfig(${options});\n`,
  );
  write(join(staged, '.vitepress/theme/index.ts'), `export { default } from ${own('theme/index.ts')};\n`);
}

/** Each page as Markdown beside itself, and all of them for those who read by machine. */
function finish(): void {
  const textOf = (page: GuidePage): string => texts.get(page) ?? '';
  for (const [page, text] of texts) write(join(made, `${page.path}.md`), text);
  // What the Markdown shows; the pages themselves have pictures under names of their own.
  for (const name of shownIn(texts.values())) cpSync(join(root, 'docs', name), join(made, name));
  write(join(made, 'llms.txt'), shortIndex({ base, textOf }));
  write(join(made, 'llms-full.txt'), wholeText({ base, textOf }));
  rmSync(join(made, 'hashmap.json'), { force: true });
  write(join(made, 'stamp.json'), `${JSON.stringify({ stamp })}\n`);
}

function shownIn(pages: Iterable<string>): Set<string> {
  const pictures = [...pages].flatMap(linksOf).filter(({ isImage }) => isImage);
  return new Set(pictures.map(({ target }) => target.replace(/^\.\//, '')));
}

/** Another one may have put its own there a moment ago, which is of the same pages. */
function replace(tries = 3): void {
  rmSync(place, { recursive: true, force: true });
  try {
    renameSync(made, place);
  } catch (error) {
    if (tries === 0) throw error;
    replace(tries - 1);
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
