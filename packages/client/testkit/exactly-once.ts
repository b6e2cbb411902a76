import type { Beckon } from '../src/index.ts';

/**
 * Events that can be counted afterwards. Each has its own number. Only the idempotency key of its request (`singles` and `batches`) or its
 * content (`bulk`) prevents duplicates.
 */
export type Load = { bulk: number; singles: number; batches: number };

const BATCH = 25;
const USERS = 500;
const BULK_CHUNK = 100;
const AT_ONCE = 32;

export async function sendNumbered(beckon: Beckon, { bulk, singles, batches }: Load): Promise<void> {
  function* many(): Generator<{ external_user_id: string; name: string; properties: { n: number } }> {
    for (let n = 0; n < bulk; n += 1) yield numbered('bulk', n);
  }
  await Promise.all([
    beckon.events.bulk(many(), { chunkRecords: BULK_CHUNK, concurrency: 4 }),
    atOnce(singles, async (n) => void (await beckon.track(numbered('single', n)))),
    atOnce(batches / BATCH, async (nth) => {
      const events = Array.from({ length: BATCH }, (_, at) => numbered('batch', nth * BATCH + at));
      await beckon.batch(events);
    }),
  ]);
}

function numbered(
  name: string,
  n: number,
): { external_user_id: string; name: string; properties: { n: number } } {
  return { external_user_id: `u${n % USERS}`, name, properties: { n } };
}

async function atOnce(count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const n = next;
      next += 1;
      await work(n);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

type Database = { query<Row extends object>(text: string, values: unknown[]): Promise<Row[]> };
export type Arrived = { name: string; events: number; different: number };

/** Waits until the ingest queue is empty, then counts the events of each name, and the distinct ones among them. */
export async function countNumbered(db: Database, projectId: number): Promise<Arrived[]> {
  for (;;) {
    const waiting = await db.query('SELECT 1 FROM beckon.ingest_queue WHERE project_id = $1 LIMIT 1', [
      projectId,
    ]);
    if (waiting.length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return db.query<Arrived>(
    `SELECT name, count(*)::int AS events, count(DISTINCT properties ->> 'n')::int AS different
     FROM beckon.event WHERE project_id = $1 GROUP BY name ORDER BY name COLLATE "C"`,
    [projectId],
  );
}
