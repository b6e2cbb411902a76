import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
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
await compressFiles(made);
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

/** Writes compressed copies that a server can send as they are. Brotli files are 12 % smaller; not every browser accepts them by HTTP. */
async function compressFiles(folder: string): Promise<void> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && /\.(js|css|html|svg)$/.test(entry.name),
  );
  await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      const body = await readFile(path);
      await writeFile(`${path}.gz`, await promisify(gzip)(body, { level: 9 }));
      await writeFile(`${path}.br`, await promisify(brotliCompress)(body));
    }),
  );
}
