import { readFileSync } from 'node:fs';

export type ReadRelease = { version: string; node: string };

export function readRelease(): ReadRelease {
  const manifest = new URL('../../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  return { version, node: process.version };
}
