import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fillInSteps, progress, withClient } from '../fill.ts';
import { runLoad } from '../load/index.ts';
import { round, show } from '../print.ts';
import { bulk } from './bulk.ts';
import { hostile } from './hostile.ts';
import { kills } from './kills.ts';
import { latencyAtHalf, manyProjects, singleEvents, singlesInPairs } from './singles.ts';
import { type Sizes, sizesOf } from './sizes.ts';
import { openStage, type Stage } from './stage.ts';
import { idle, memory } from './standing.ts';

/** These parts share one stage. `kills` starts a server of its own. */
const ON_STAGE: Record<string, (stage: Stage, sizes: Sizes) => Promise<unknown>> = {
  idle: (stage, { idleSeconds }) =>
    show(`Idle for ${idleSeconds} s`, ['API', 'PostgreSQL', 'together'], async () => [
      await idle(stage, idleSeconds),
    ]),
  singles,
  hostile: (stage) =>
    show('Hostile bodies of 256 KiB', ['', 'status', 'median', 'max'], () => hostile(stage)),
  bulk: (stage, sizes) =>
    show('Bulk: records a second', ['', 'parse + validate', 'accepted', 'ratio'], () =>
      bulk(stage, sizes.bulk),
    ),
  projects,
  memory: (stage, { memory: sizes }) =>
    show('Memory under load', ['minute 2', `minute ${sizes.minutes}`, 'ratio', 'errors'], async () => [
      await memory(stage, sizes),
    ]),
};
const NAMES = [...Object.keys(ON_STAGE), 'kills'];

/** `npm run bench -- accept [part …] [--quick]`. Runs all parts in turn if none is named. */
export async function benchAccept(args: string[]): Promise<void> {
  const sizes = sizesOf({ quick: args.includes('--quick') });
  const parts = args.filter((arg) => !arg.startsWith('--'));
  for (const name of parts)
    if (!NAMES.includes(name)) throw new Error(`There is no part "${name}": ${NAMES.join(', ')}`);
  const isSelected = (name: string): boolean => parts.length === 0 || parts.includes(name);
  const chosen = Object.entries(ON_STAGE).filter(([name]) => isSelected(name));
  if (chosen.length > 0)
    await onStage(
      chosen.map(
        ([, part]) =>
          (stage) =>
            part(stage, sizes),
      ),
    );
  if (!isSelected('kills')) return;
  const header = ['kills of each', 'acknowledged', 'retries', 'missing', 'doubled', 'other bytes'];
  await show('kill -9 under load, server and PostgreSQL', header, async () => [await kills(sizes.kills)]);
}

async function onStage(parts: ((stage: Stage) => Promise<unknown>)[]): Promise<void> {
  const stage = await openStage();
  try {
    for (const part of parts) await part(stage);
  } finally {
    await stage.close();
  }
}

async function singles(stage: Stage, sizes: Sizes): Promise<void> {
  await preload(stage, sizes.keysThere);
  const header = ['', 'bare /s', 'real /s', 'ratio', 'bare CPU', 'real CPU', 'ratio', 'PostgreSQL', 'errors'];
  const rows = await show(`Single events, 64 connections, ${round(sizes.keysThere)} keys there`, header, () =>
    singlesInPairs(stage, sizes.singles),
  );
  const perSecond = Number(rows.at(-1)?.[2]?.replaceAll(',', '') ?? 0);
  await show('The load generator alone', ['requests /s'], async () => [[round(await generatorAlone())]]);
  const open = ['offered /s', 'p50', 'p99', 'max', 'fsync p99', 'errors'];
  await show('Half of that, open loop', open, async () => [
    await latencyAtHalf(stage, { perSecond: perSecond / 2, seconds: sizes.openLoopSeconds }),
  ]);
}

async function projects(stage: Stage, { projects: sizes }: Sizes): Promise<void> {
  const header = ['', 'one /s', 'thousand /s', 'one CPU', 'thousand CPU', 'ratio', 'API only'];
  await show(`${round(sizes.projects)} projects at once, API and PostgreSQL`, header, () =>
    manyProjects(stage, sizes),
  );
}

const KEYS = `
  INSERT INTO beckon.idempotency (project_id, key, fingerprint, status, accepted_at)
  SELECT 1, decode(md5(n::text), 'hex'), sha256(n::text::bytea), 202, $3::timestamptz - interval '20 hours' + n * interval '10 ms'
  FROM generate_series($1::int + 1, $2::int) AS n`;

/**
 * Writes idempotency keys as a day of traffic leaves them: random keys in chronological order. The index is dropped and rebuilt at the end:
 * the result is the same, and random inserts into it would take several times as long.
 */
async function preload({ url }: Stage, rows: number): Promise<void> {
  await withClient(url, (client) =>
    client.query('ALTER TABLE beckon.idempotency DROP CONSTRAINT idempotency_pkey'),
  );
  const now = new Date();
  await fillInSteps(url, { name: 'idempotency keys', rows }, (client, from, to) =>
    client.query(KEYS, [from, to, now]),
  );
  progress('idempotency keys: building the index');
  await withClient(url, async (client) => {
    await client.query('ALTER TABLE beckon.idempotency ADD PRIMARY KEY (project_id, key)');
    await client.query('VACUUM ANALYZE beckon.idempotency');
    await client.query('CHECKPOINT');
  });
}

async function generatorAlone(): Promise<number> {
  const responder = fork(join(import.meta.dirname, '../load/responder.ts'));
  const [{ port }] = (await once(responder, 'message')) as [{ port: number }];
  const plan = singleEvents([`sk_live_${'x'.repeat(40)}`], { kind: 'closed', connections: 64 }, 5);
  const { perSecond } = await runLoad({ host: '127.0.0.1', port, ...plan });
  responder.disconnect();
  return perSecond;
}
