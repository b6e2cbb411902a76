import { readFileSync } from 'node:fs';

/**
 * `node scripts/platform-packages.ts [lock file]` checks that every package for a platform is locked, and in one version.
 *
 * A package such as rolldown has one optional dependency per platform. `npm install` leaves a version that is not published out of the
 * lock file, without an error, and `npm ci` fails later. For a range, npm takes another version, which only that platform then runs.
 */

type Entry = {
  version?: string;
  integrity?: string;
  os?: string[];
  cpu?: string[];
  optionalDependencies?: Record<string, string>;
};

/** Returns a sentence per package that is missing or has another version than its siblings. */
export function findProblems(lockFile: string): string[] {
  const { packages } = JSON.parse(lockFile) as { packages: Record<string, Entry> };
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    problemsOf(packages, path, Object.entries(optionalDependencies)),
  );
}

function problemsOf(packages: Record<string, Entry>, path: string, ranges: [string, string][]): string[] {
  const parent = path === '' ? 'package.json' : path.replace(/^.*node_modules\//, '');
  const problems: string[] = [];
  /** The first version of each range: siblings with one range have one version. */
  const versions = new Map<string, string>();
  for (const [name, range] of ranges) {
    const entry = find(packages, path, name);
    if (!entry?.version || !entry.integrity) {
      problems.push(`${parent} needs ${name} ${range}, which the lock file does not have.`);
      continue;
    }
    // An optional dependency for every platform, such as a plugin, is not one of several.
    if (!entry.os && !entry.cpu) continue;
    const expected = versions.get(range) ?? (/^\d/.test(range) ? range : entry.version);
    versions.set(range, expected);
    if (entry.version !== expected)
      problems.push(`${parent} needs ${name} ${expected}, but the lock file has ${entry.version}.`);
  }
  return problems;
}

/** Resolves a package as Node.js does: below the parent, then further up. */
function find(packages: Record<string, Entry>, path: string, name: string): Entry | null {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
    const entry = packages[at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`];
    if (entry) return entry;
    if (at === '') return null;
  }
}

if (import.meta.main) {
  const file = process.argv[2] ?? new URL('../package-lock.json', import.meta.url).pathname;
  const problems = findProblems(readFileSync(file, 'utf8'));
  for (const problem of problems) console.log(problem);
  if (problems.length > 0) {
    console.log('Take another version: all packages of a version must be published. See CONTRIBUTING.md.');
    process.exitCode = 1;
  }
}
