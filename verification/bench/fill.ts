import pg from 'pg';

/**
 * Opens a connection of its own for fills and totals. A pooled connection ends a statement after some seconds, and on a
 * slow disk building an index over five million rows takes minutes.
 */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // A default may be set for the server, the database or the role.
    await client.query('SET statement_timeout = 0');
    return await work(client);
  } finally {
    await client.end();
  }
}

/** `rows` is the number of rows for the progress line; one statement writes at most `step` of them. */
type Fill = { name: string; rows: number; step?: number };

/** Small enough to take about a second on a slow disk, large enough that its commit does not count. */
const STEP = 10_000;
const PROGRESS_EVERY_MS = 5_000;

/**
 * Calls `write` for one range of row numbers after the other, `from` inclusive and `to` exclusive. Each statement is
 * bounded, so that a fill runs to its end on any machine. A fill that takes longer than five seconds prints its progress.
 */
export async function fillInSteps(
  url: string,
  { name, rows, step = STEP }: Fill,
  write: (client: pg.Client, from: number, to: number) => Promise<unknown>,
): Promise<void> {
  const startedAt = performance.now();
  let printedAt = startedAt;
  await withClient(url, async (client) => {
    for (let from = 0; from < rows; from += step) {
      const to = Math.min(rows, from + step);
      await write(client, from, to);
      if (performance.now() - printedAt < PROGRESS_EVERY_MS) continue;
      printedAt = performance.now();
      const seconds = Math.round((printedAt - startedAt) / 1_000);
      progress(`${name}: ${to.toLocaleString('en')} of ${rows.toLocaleString('en')} rows, ${seconds} s`);
    }
  });
}

/** Prints a line with the time to stderr, so that stdout holds only the tables. */
export function progress(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}
