import type { Database, Tx } from '../io/db/index.ts';
import { type Gauge, type Reading, READINGS } from './depth-readings.ts';

/**
 * How much waits in every queue, over all projects, for who watches the installation. It must cost nothing that anybody
 * notices, however large the tables are: history is never counted, every count ends at a bound, and every reading has a time
 * of its own, after which it is given up and the others go on.
 */
export type Sample = { gauge: string; labels: Record<string, string>; value: number };

/** `failed`: readings that came to nothing, by name. */
export type Depths = { samples: Sample[]; failed: string[] };

/** All that are told, whatever the database says. */
export const GAUGES: readonly Gauge[] = READINGS.flatMap(({ gauges }) => gauges);

/** What is counted is counted so far; who reads this number reads "at least". */
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
      // One that took too long says nothing of the others; a database that is away answers none of them.
      if (!isOfStatement(error)) throw error;
      depths.failed.push(reading.name);
    }
  }
  return depths;
}

async function read(tx: Tx, reading: Reading, now: number): Promise<Rows> {
  await tx.query(`SET LOCAL statement_timeout = ${READ_WITHIN_MS}`);
  // Compiling a plan costs more than any of these takes.
  await tx.query('SET LOCAL jit = off');
  return tx.query(reading.text, reading.values({ now: new Date(now), countedTo: COUNTED_TO }));
}

/** PostgreSQL's codes for what is wrong with a statement and not with the database. */
const OF_STATEMENT = /^(?:57014|55P03|42|22|54)/;

/** It took too long or, while processes of two releases share a database, asks for what is not there. */
function isOfStatement(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    OF_STATEMENT.test(error.code)
  );
}

function toSample(gauges: readonly Gauge[], { gauge, a, b, value }: Rows[number]): Sample {
  const names = gauges.find(({ name }) => name === gauge)?.labels ?? [];
  const given = [a, b];
  const labels = Object.fromEntries(names.map((name, i) => [name, given[i] ?? '']));
  return { gauge, labels, value };
}
