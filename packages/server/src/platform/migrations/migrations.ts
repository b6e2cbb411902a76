import type { Migration } from 'kysely/migration';
import * as baseline from './0001-baseline.ts';

/** Forward only, and never edited after a release. A list and not a directory scan, so that a missing file is a type error. */
export const MIGRATIONS: Record<string, Migration> = {
  '0001-baseline': baseline,
};
