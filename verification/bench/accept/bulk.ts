import { EventsBulkSchema } from '@beckon/contract/schema';
import { Ajv } from 'ajv';
import { startLoad } from '../load/index.ts';
import { median } from '../measure.ts';
import { ratio, round } from '../print.ts';
import type { Stage } from './stage.ts';

const RECORDS = 1_000;
const BODY = JSON.stringify({
  events: Array.from({ length: RECORDS }, (_, i) => ({
    external_user_id: `user-${1_000_000_000 + i}`,
    name: 'feature_used',
    properties: { feature: 'export', count: i },
  })),
});

/**
 * Measures bulk requests of a thousand events. The baseline is one process that only parses and validates such bodies. No worker processes
 * records here, so the benchmark itself deletes the chunks: the queue cap would end the run at 50,000 records.
 */
export async function bulk(stage: Stage, options: { pairs: number; seconds: number }): Promise<string[][]> {
  const { id, secret } = await stage.project();
  const rows: string[][] = [];
  const ratios: number[] = [];
  for (let pair = 0; pair < options.pairs; pair += 1) {
    const baseline = parseAndValidate(options.seconds);
    const accepted = await acceptBulk(stage, { id, secret, seconds: options.seconds });
    ratios.push(accepted / baseline);
    rows.push([`pair ${pair + 1}`, round(baseline), round(accepted), ratio(accepted / baseline)]);
  }
  return [...rows, ['median', '', '', ratio(median(ratios))]];
}

async function acceptBulk(
  stage: Stage,
  run: { id: number; secret: string; seconds: number },
): Promise<number> {
  const load = startLoad({
    host: '127.0.0.1',
    port: stage.real.port,
    request: {
      method: 'POST',
      path: '/api/v1/events/bulk',
      projects: [run.secret],
      idempotencyKey: true,
      // The same thousand events each time: making each one unique would cost the load generator more than the server spends on it.
      body: { kind: 'text', text: BODY },
    },
    mode: { kind: 'closed', connections: 8 },
    seconds: run.seconds,
    warmupSeconds: 1,
  });
  let running = true;
  const drainResult = drain(stage, run.id, () => running);
  const result = await load.result;
  running = false;
  await drainResult;
  if (result.errors > 0) throw new Error(`bulk requests were refused: ${JSON.stringify(result.statuses)}`);
  return result.perSecond * RECORDS;
}

async function drain({ db }: Stage, projectId: number, going: () => boolean): Promise<void> {
  do {
    await db.transaction(async (tx) => {
      await tx.query('UPDATE beckon.ingest_queue_state SET waiting = 0 WHERE project_id = $1', [projectId]);
      await tx.query('DELETE FROM beckon.ingest_queue WHERE project_id = $1', [projectId]);
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
  } while (going());
}

function parseAndValidate(seconds: number): number {
  const ajv = new Ajv({ formats: { email: true, 'date-time': true } });
  const validate = ajv.compile(EventsBulkSchema);
  const bytes = Buffer.from(BODY);
  const until = performance.now() + seconds * 1_000;
  const startedAt = performance.now();
  let records = 0;
  while (performance.now() < until) {
    if (!validate(JSON.parse(bytes.toString()))) throw new Error('the baseline refuses its own body');
    records += RECORDS;
  }
  return (records / (performance.now() - startedAt)) * 1_000;
}
