import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLifecycle } from '../platform/async/lifecycle.ts';
import { silentLog } from '../platform/log.ts';
import { openGuide } from './built-pages.ts';

const BUILD = `import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
const dist = join(import.meta.dirname, 'dist');
mkdirSync(dist, { recursive: true });
writeFileSync(join(dist, 'index.html'), '<title>built</title>');
writeFileSync(join(import.meta.dirname, 'was-built'), '');`;

/** Creates a small site folder, with an earlier build of these pages or of others. */
async function site(dist?: 'fresh' | 'old'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'beckon-site-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'pages.ts'), '');
  await writeFile(join(folder, 'stamp.ts'), "export const stampOf = () => 'now';\n");
  await writeFile(join(folder, 'build.ts'), BUILD);
  if (dist === undefined) return folder;
  await mkdir(join(folder, 'dist'));
  await writeFile(join(folder, 'dist', 'index.html'), `<title>${dist}</title>`);
  await writeFile(
    join(folder, 'dist', 'stamp.json'),
    JSON.stringify({ stamp: dist === 'fresh' ? 'now' : 'before' }),
  );
  return folder;
}

async function indexPageOf(folder: string): Promise<string> {
  const life = createLifecycle(silentLog);
  onTestFinished(() => life.stop());
  const state = openGuide({ log: silentLog, life }, folder);
  expect(state().kind).toBe('building');
  await vi.waitUntil(() => state().kind !== 'building', 10_000);
  const now = state();
  return now.kind === 'ready' ? String(now.files.get('/index.html')?.body) : now.kind;
}

function wasBuilt(folder: string): Promise<boolean> {
  return readFile(join(folder, 'was-built')).then(
    () => true,
    () => false,
  );
}

test('reads the guide on the first request, and builds it then if its pages have changed', async () => {
  const [fresh, old, none] = [await site('fresh'), await site('old'), await site()];
  openGuide({ log: silentLog, life: createLifecycle(silentLog) }, none);
  expect(await indexPageOf(fresh)).toBe('<title>fresh</title>');
  expect(await indexPageOf(old)).toBe('<title>built</title>');
  expect(await Promise.all([fresh, old, none].map(wasBuilt))).toEqual([false, true, false]);
});

test('keeps the last build when a build fails; without one the guide failed', async () => {
  const [old, none] = [await site('old'), await site()];
  for (const folder of [old, none]) await writeFile(join(folder, 'build.ts'), 'process.exit(1);');
  expect(await indexPageOf(old)).toBe('<title>old</title>');
  expect(await indexPageOf(none)).toBe('failed');
});
