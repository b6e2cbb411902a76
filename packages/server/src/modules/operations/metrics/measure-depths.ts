/**
 * Measures the waiting work of all projects for the metrics page. The cost must stay low however large the tables are. History is never
 * counted, and every count has a bound. Every reading has its own timeout, after which the others continue.
 */

import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { type Gauge, type DepthMeasurement, READINGS } from './depth-readings.ts';

export type GaugeSample = { gauge: string; labels: Record<string, string>; value: number };

/** `failed`: names of readings that failed. */
export type Depths = { samples: GaugeSample[]; failed: string[] };

/** All gauges, even if the database does not respond. */
export const GAUGES: readonly Gauge[] = READINGS.flatMap(({ gauges }) => gauges);

/** A count stops here, so this value means "at least". */
const COUNTED_TO = 100_000;
const READ_WITHIN_MS = 1_000;

type Rows = { gauge: string; a: string | null; b: string | null; value: number }[];

export async function measureDepths(db: Pick<Database, 'transaction' | 'clock'>): Promise<Depths> {
  const depths: Depths = { samples: [], failed: [] };
  for (const reading of READINGS) {
    try {
      const rows = await db.transaction((tx) => read(tx, reading, db.clock.now()));
      depths.samples.push(...rows.map((row) => toSample(reading.gauges, row)));
    } catch (error) {
      // A timeout concerns one reading only. If the database is unavailable, all would fail.
      if (!isOfStatement(error)) throw error;
      depths.failed.push(reading.name);
    }
  }
  return depths;
}

async function read(tx: Tx, reading: DepthMeasurement, now: number): Promise<Rows> {
  await tx.query(`SET LOCAL statement_timeout = ${READ_WITHIN_MS}`);
  // Compiling a plan takes longer than any of these statements.
  await tx.query('SET LOCAL jit = off');
  const text = tx.isDistributed ? (reading.distributedText ?? reading.text) : reading.text;
  return tx.query(text, reading.values({ now: new Date(now), countedTo: COUNTED_TO }));
}

/** PostgreSQL's error codes that concern one statement and not the database. */
const OF_STATEMENT = /^(?:57014|55P03|42|22|54)/;

/** A timeout or, while processes of two releases share a database, a missing table or column. */
function isOfStatement(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    OF_STATEMENT.test(error.code)
  );
}

function toSample(gauges: readonly Gauge[], { gauge, a, b, value }: Rows[number]): GaugeSample {
  const names = gauges.find(({ name }) => name === gauge)?.labels ?? [];
  const values = [a, b];
  const labels = Object.fromEntries(names.map((name, i) => [name, values[i] ?? '']));
  return { gauge, labels, value };
}
