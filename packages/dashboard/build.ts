import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { stampOf } from './stamp.ts';

/**
 * Builds the dashboard into `dist`: beside it first, and then in its place, so that a server that is running never finds half of
 * it, and a build that fails leaves the one before. `stamp.json` says of which sources it was made.
 */
const folder = import.meta.dirname;
const place = join(folder, 'dist');
// Several servers of one checkout may each build it at the same time.
const made = join(folder, 'dist-next', String(process.pid));

// Whoever starts the server may have another one, such as a test; React would be built as for developers, and do all twice.
process.env.NODE_ENV = 'production';

// Read before the build: what is changed meanwhile is built again.
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

/** Another one may have put its own there a moment ago, which is of the same sources. */
function replace(tries = 3): void {
  rmSync(place, { recursive: true, force: true });
  try {
    renameSync(made, place);
  } catch (error) {
    if (tries === 0) throw error;
    replace(tries - 1);
  }
}

/** Twins that a server can hand out as they are. */
function compress(at: string): void {
  for (const entry of readdirSync(at, { withFileTypes: true })) {
    const path = join(at, entry.name);
    if (entry.isDirectory()) compress(path);
    else if (/\.(js|css|html|svg)$/.test(entry.name))
      writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
  }
}
