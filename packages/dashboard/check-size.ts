import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/**
 * The files that a browser loads before it can show a screen: the entry, the frame, the screen, and all their static imports. Editors and
 * charts are loaded later and must not become part of this.
 */
const FIRST_LOAD_MAX_BYTES = 250 * 1024;
/** The frame of a project's pages, and the one of the pages outside of projects. */
const FRAMES = ['src/app/shell.tsx', 'src/app/outside.tsx'];
const IS_OUTSIDE = /^src\/screens\/(?:account|projects)\//;

type Chunk = { file: string; src?: string; isEntry?: true; imports?: string[] };
type Manifest = Record<string, Chunk>;

const dist = join(import.meta.dirname, 'dist');
const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8')) as Manifest;
const entries = Object.keys(manifest).filter((key) => manifest[key]?.isEntry === true);
const frames = FRAMES.filter((frame) => manifest[frame] !== undefined);
const screens = Object.keys(manifest).filter((key) => /^src\/screens\/.*-screen\.tsx$/.test(key));
const sizes = new Map<string, number>();

const loads = screens
  .map((screen) => ({ screen, bytes: bytesOf([...entries, frameOf(screen), screen]) }))
  .toSorted((a, b) => b.bytes - a.bytes);
for (const { screen, bytes } of loads.slice(0, 3)) console.log(`${kilobytes(bytes)} ${screen}`);
const tooLarge = loads.filter(({ bytes }) => bytes > FIRST_LOAD_MAX_BYTES);
if (loads.length === 0 || entries.length !== 1 || frames.length !== FRAMES.length)
  throw new Error('the manifest names no frame or no screens');
if (tooLarge.length > 0) {
  console.error(
    `${tooLarge.length} screens load more than ${kilobytes(FIRST_LOAD_MAX_BYTES)} of script, gzipped`,
  );
  process.exitCode = 1;
}

function frameOf(screen: string): string {
  const [project = '', outside = ''] = FRAMES;
  return IS_OUTSIDE.test(screen) ? outside : project;
}

function bytesOf(entries: string[]): number {
  const seen = new Set<string>();
  const visit = (key: string): void => {
    if (seen.has(key)) return;
    seen.add(key);
    for (const imported of manifest[key]?.imports ?? []) visit(imported);
  };
  for (const entry of entries) visit(entry);
  return [...seen].reduce((sum, key) => sum + sizeOf(manifest[key]?.file ?? ''), 0);
}

function sizeOf(file: string): number {
  if (!file.endsWith('.js')) return 0;
  const cached = sizes.get(file);
  if (cached !== undefined) return cached;
  const size = gzipSync(readFileSync(join(dist, file)), { level: 9 }).length;
  sizes.set(file, size);
  return size;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} kB`;
}
