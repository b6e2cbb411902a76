import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLifecycle } from '../platform/async/lifecycle.ts';
import { type Log, silentLog } from '../platform/log.ts';
import { openDashboard } from './built-pages.ts';

/** Creates a small checkout of the dashboard: its sources, and a build of these sources or of others. */
async function checkout(parts: { build: string; dist?: 'fresh' | 'old' }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'beckon-dashboard-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'src'));
  await writeFile(join(folder, 'stamp.ts'), "export const stampOf = () => 'now';\n");
  await writeFile(join(folder, 'build.ts'), `${BUILT}\n${parts.build}`);
  if (parts.dist) await page(folder, { words: parts.dist, stamp: parts.dist === 'fresh' ? 'now' : 'before' });
  return folder;
}

async function page(folder: string, { words, stamp }: { words: string; stamp: string }): Promise<void> {
  await mkdir(join(folder, 'dist'));
  await writeFile(join(folder, 'dist', 'index.html'), `<title>${words}</title>`);
  await writeFile(join(folder, 'dist', 'stamp.json'), JSON.stringify({ stamp }));
}

const BUILT = `import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
export function write() {
  const dist = join(import.meta.dirname, 'dist');
  mkdirSync(dist, { recursive: true });
  writeFileSync(join(dist, 'index.html'), '<title>built</title>');
}`;

async function opened(folder: string, log: Log = silentLog) {
  const life = createLifecycle(log);
  onTestFinished(() => life.stop());
  const state = await openDashboard({ log, life }, folder);
  return {
    life,
    state,
    shown: (): string | null => {
      const now = state();
      if (now.kind !== 'ready') return null;
      return /<title>(.*)<.title>/.exec(now.page.body.toString())?.[1] ?? '';
    },
  };
}

test('serves a build of the current sources at once, and builds nothing', async () => {
  const folder = await checkout({ build: "throw new Error('it was built')", dist: 'fresh' });
  expect((await opened(folder)).shown()).toBe('fresh');
});

test('builds from changed sources while everything else is served, and then serves the new page', async () => {
  const folder = await checkout({ build: 'write();', dist: 'old' });
  const { state, shown } = await opened(folder);
  expect(state().kind).toBe('building');
  await vi.waitUntil(() => state().kind !== 'building', 10_000);
  expect(shown()).toBe('built');
});

test('keeps the last build when a build fails, and logs that; without one the page failed', async () => {
  const errors: unknown[] = [];
  const log = { ...silentLog, error: (what: object) => errors.push(what) } as unknown as Log;
  const withOld = await opened(
    await checkout({ build: "throw new Error('no such part')", dist: 'old' }),
    log,
  );
  await vi.waitUntil(() => withOld.state().kind !== 'building', 10_000);
  expect(withOld.shown()).toBe('old');
  expect(JSON.stringify(errors, (_, value) => (value instanceof Error ? value.message : value))).toContain(
    'no such part',
  );
  const without = await opened(await checkout({ build: 'process.exit(1);' }), log);
  await vi.waitUntil(() => without.state().kind !== 'building', 10_000);
  expect(without.state().kind).toBe('failed');
});

test('ends the build when the server stops, and does not report that as a failure', async () => {
  const folder = await checkout({
    build:
      "writeFileSync(join(import.meta.dirname, 'pid'), String(process.pid)); setInterval(() => {}, 1_000);",
  });
  const errors: unknown[] = [];
  const { life, state } = await opened(folder, {
    ...silentLog,
    error: (what: object) => errors.push(what),
  } as unknown as Log);
  const pid = await vi.waitUntil(() => readFile(join(folder, 'pid'), 'utf8').catch(() => ''), 10_000);
  await life.stop();
  await vi.waitUntil(() => !isAlive(Number(pid)), 10_000);
  expect(state().kind).toBe('building');
  expect(errors).toEqual([]);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
