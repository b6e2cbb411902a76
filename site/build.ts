import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'vitepress';
import { shortIndex, wholeText } from './llms.ts';
import { asPage, linksOf } from './markdown.ts';
import { type GuidePage, PAGES } from './pages.ts';
import { stampOf } from './stamp.ts';

/**
 * Builds the guide from `docs/` into `site/dist`: first beside it, then in its place. `--base /` is for a separate host; the default is
 * `/guide/` of a server. A broken link fails the build.
 */
const { values } = parseArgs({
  options: { base: { type: 'string', default: '/guide/' }, out: { type: 'string' } },
});
const { base } = values;
if (!/^\/(?:[\w.-]+\/)*$/.test(base)) throw new Error('--base is a path such as /guide/, or /');

const folder = import.meta.dirname;
const root = join(folder, '..');
const outputDir = values.out ?? join(folder, 'dist');
// Several builds of one checkout may run at the same time.
const work = join(folder, 'dist-next', String(process.pid));
const staged = join(work, 'pages');
// Next to the output, which may be on another disk.
const made = values.out ? `${values.out}.${process.pid}` : join(work, 'made');

// A test may start the build with another NODE_ENV.
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
  for (const path of [work, made]) rmSync(path, { recursive: true, force: true });
}

/** Copies pages, pictures and the configuration into the folder that vitepress builds. */
function stage(): void {
  for (const [page, text] of texts) write(join(staged, `${page.path}.md`), text);
  for (const name of ['pictures', 'screenshots'])
    cpSync(join(root, 'docs', name), join(staged, name), { recursive: true });
  mkdirSync(join(staged, 'public'), { recursive: true });
  cpSync(join(root, 'packages/dashboard/public/beckon.svg'), join(staged, 'public', 'beckon.svg'));
  const options = JSON.stringify({ base, outDir: made });
  const moduleLiteral = (name: string): string => JSON.stringify(join(folder, name));
  write(
    join(staged, '.vitepress/config.ts'),
    `import { siteConfig } from ${moduleLiteral('config.ts')};\nexport default siteConfig(${options});\n`,
  );
  write(
    join(staged, '.vitepress/theme/index.ts'),
    `export { default } from ${moduleLiteral('theme/index.ts')};\n`,
  );
}

/** Adds each page as Markdown, and the llms.txt files. */
function finish(): void {
  const textOf = (page: GuidePage): string => texts.get(page) ?? '';
  for (const [page, text] of texts) write(join(made, `${page.path}.md`), text);
  // The Markdown refers to pictures by their own names; the built pages use hashed copies.
  for (const name of picturesIn(texts.values())) cpSync(join(root, 'docs', name), join(made, name));
  write(join(made, 'llms.txt'), shortIndex({ base, textOf }));
  write(join(made, 'llms-full.txt'), wholeText({ base, textOf }));
  rmSync(join(made, 'hashmap.json'), { force: true });
  write(join(made, 'stamp.json'), `${JSON.stringify({ stamp })}\n`);
}

function picturesIn(pages: Iterable<string>): Set<string> {
  const pictures = [...pages].flatMap(linksOf).filter(({ isImage }) => isImage);
  return new Set(pictures.map(({ target }) => target.replace(/^\.\//, '')));
}

/** Retries, because another build may have put the same pages there at the same time. */
function replace(tries = 3): void {
  rmSync(outputDir, { recursive: true, force: true });
  try {
    renameSync(made, outputDir);
  } catch (error) {
    if (tries === 0) throw error;
    replace(tries - 1);
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
