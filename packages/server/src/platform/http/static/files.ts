import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { gzip } from 'node:zlib';
import { promisify } from 'node:util';

/** The built dashboard, in memory: some megabytes, which few clients request. */
export type AppFile = { body: Buffer; packed: Buffer | null; type: string; isHashed: boolean };

type AppFiles = {
  /** The page itself; it names all other files. */
  page: AppFile;
  /** By path, `/assets/index-1a2b.js`. */
  files: ReadonlyMap<string, AppFile>;
};

/** Not built yet, or failed to build; then `/` says so. */
export type AppState = { kind: 'building' } | { kind: 'failed' } | ({ kind: 'ready' } & AppFiles);

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
};
/** Compressed already, by their own format. */
const PACKED = new Set(['.png', '.woff2', '.ico']);
const pack = promisify(gzip);

/** Reads the built files. A file of an unknown type is not served. */
export async function readAppFiles(folder: string): Promise<AppFiles> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = new Map<string, AppFile>();
  for (const entry of names) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const place = join(entry.parentPath, entry.name);
    const path = place.slice(folder.length).replaceAll('\\', '/');
    files.set(path, await toFile(place, { path, type }));
  }
  const page = files.get('/index.html');
  if (!page) throw new Error(`There is no index.html in ${folder}`);
  return { page, files };
}

async function toFile(place: string, { path, type }: { path: string; type: string }): Promise<AppFile> {
  const body = await readFile(place);
  const packed = PACKED.has(extname(path))
    ? null
    : await readFile(`${place}.gz`).catch(() => pack(body, { level: 9 }));
  // A file with a hash in its name never changes; the bundler puts only such files there.
  return { body, packed, type, isHashed: path.startsWith('/assets/') };
}
