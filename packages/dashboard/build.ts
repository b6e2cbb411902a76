import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { stampOf } from './stamp.ts';

/**
 * Builds the dashboard next to `dist`, then replaces `dist`. A running server never finds half of it, and a failed build keeps the previous
 * one. `stamp.json` identifies the sources.
 */
const folder = import.meta.dirname;
const dist = join(folder, 'dist');
// Several servers of one checkout may each build it at the same time.
const made = join(folder, 'dist-next', String(process.pid));

// The parent process may have another value, such as `test`. React would then be its development build, which does everything twice.
process.env.NODE_ENV = 'production';

// Read before the build, so that later changes cause another build.
const stamp = stampOf(folder);
await build({
  root: folder,
  configFile: join(folder, 'vite.config.ts'),
  logLevel: 'warn',
  build: { outDir: made },
});
compress(made);
writeFileSync(join(made, 'stamp.json'), `${JSON.stringify({ stamp })}\n`);
replace();

/** Another process may have just put its own build there, which is of the same sources. */
function replace(tries = 3): void {
  rmSync(dist, { recursive: true, force: true });
  try {
    renameSync(made, dist);
  } catch (error) {
    if (tries === 0) throw error;
    replace(tries - 1);
  }
}

/** Writes compressed copies that a server can send as they are. */
function compress(at: string): void {
  for (const entry of readdirSync(at, { withFileTypes: true })) {
    const path = join(at, entry.name);
    if (entry.isDirectory()) compress(path);
    else if (/\.(js|css|html|svg)$/.test(entry.name))
      writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
  }
}
