import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

type Entry = {
  resolved?: string;
  link?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
};

/**
 * Returns the directories in `node_modules` of the packages that the server and the command line need. The lock file also has optional
 * peers, such as Vue and Vitest for better-auth. They are installed by npm, but the image does not use them.
 */
export function productionPackages(lockFile: string): { needed: Set<string>; others: string[] } {
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as { packages: Record<string, Entry> };
  const needed = new Set<string>();
  const waiting = ['packages/server', 'packages/cli'];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (needed.has(path)) continue;
    needed.add(path);
    const entry = packages[path] ?? {};
    if (entry.link && entry.resolved) waiting.push(entry.resolved);
    for (const name of namesOf(entry)) waiting.push(...find(packages, path, name));
  }
  const others = Object.keys(packages).filter((path) => path.includes('node_modules/') && !needed.has(path));
  return { needed, others };
}

function namesOf({
  dependencies,
  optionalDependencies,
  peerDependencies,
  peerDependenciesMeta,
}: Entry): string[] {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta?.[name]?.optional);
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
}

/** Resolves a package as Node does: next to the importer, then further up. Packages for other platforms are not installed. */
function find(packages: Record<string, Entry>, from: string, name: string): string[] {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
    const path = join(at, 'node_modules', name);
    if (packages[path]) return [path];
    if (at === '') return [];
  }
}

/** `node scripts/production-packages.ts /app` deletes the other packages below that directory. */
const [, , folder] = process.argv;
if (import.meta.main && folder !== undefined) {
  const { needed, others } = productionPackages(join(folder, 'package-lock.json'));
  for (const path of others) rmSync(join(folder, path), { recursive: true, force: true });
  console.log(`${needed.size} packages stay, ${others.length} go`);
}
