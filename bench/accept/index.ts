import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { runLoad } from '../load/index.ts';
import { round, show } from '../print.ts';
import { bulk } from './bulk.ts';
import { hostile } from './hostile.ts';
import { kills } from './kills.ts';
import { latencyAtHalf, manyProjects, singleEvents, singlesInPairs } from './singles.ts';
import { openStage, type Stage } from './stage.ts';
import { idle, memory } from './standing.ts';

/** `npm run bench -- accept [part …]`; all parts in turn where none is named. */
export async function benchAccept(parts: string[]): Promise<void> {
  const wanted = (name: string): boolean => parts.length === 0 || parts.includes(name);
  const stage = await openStage();
  try {
    if (wanted('idle'))
      await show('Idle for 60 s', ['API', 'PostgreSQL', 'together'], async () => [await idle(stage, 60)]);
    if (wanted('singles')) await singles(stage);
    if (wanted('hostile'))
      await show('Hostile bodies of 256 KiB', ['', 'status', 'median', 'max'], () => hostile(stage));
    if (wanted('bulk'))
      await show('Bulk: records a second', ['', 'parse + validate', 'accepted', 'ratio'], () =>
        bulk(stage, { pairs: 5, seconds: 4 }),
      );
    if (wanted('projects')) await projects(stage);
    if (wanted('memory'))
      await show('Memory under load', ['minute 2', 'minute 5', 'ratio', 'errors'], async () => [
        await memory(stage, 5),
      ]);
  } finally {
    await stage.close();
  }
  if (wanted('kills')) {
    const header = ['kills of each', 'acknowledged', 'retries', 'missing', 'doubled', 'other bytes'];
    await show('kill -9 under load, server and PostgreSQL', header, async () => [await kills(20)]);
  }
}

const KEYS_THERE = 5_000_000;

async function singles(stage: Stage): Promise<void> {
  await preload(stage, KEYS_THERE);
  const header = ['', 'bare /s', 'real /s', 'ratio', 'bare CPU', 'real CPU', 'ratio', 'PostgreSQL', 'errors'];
  const rows = await show(`Single events, 64 connections, ${round(KEYS_THERE)} keys there`, header, () =>
    singlesInPairs(stage, { pairs: 5, seconds: 5 }),
  );
  const perSecond = Number(rows.at(-1)?.[2]?.replaceAll(',', '') ?? 0);
  await show('The load generator alone', ['requests /s'], async () => [[round(await generatorAlone())]]);
  const open = ['offered /s', 'p50', 'p99', 'max', 'fsync p99', 'errors'];
  await show('Half of that, open loop', open, async () => [
    await latencyAtHalf(stage, { perSecond: perSecond / 2, seconds: 20 }),
  ]);
}

async function projects(stage: Stage): Promise<void> {
  const header = ['', 'one /s', 'thousand /s', 'one CPU', 'thousand CPU', 'ratio', 'API only'];
  await show('1,000 projects at once, API and PostgreSQL', header, () =>
    manyProjects(stage, { projects: 1_000, seconds: 5 }),
  );
}

/** Rows as a day of traffic leaves them: random keys, in the order of their time. The index is built afterwards, which is the same index. */
async function preload({ db }: Stage, keys: number): Promise<void> {
  await db.query('ALTER TABLE beckon.idempotency DROP CONSTRAINT idempotency_pkey');
  await db.query(
    `INSERT INTO beckon.idempotency (project_id, key, fingerprint, status, accepted_at)
     SELECT 1, decode(md5(n::text), 'hex'), sha256(n::text::bytea), 202, now() - interval '20 hours' + n * interval '10 ms'
     FROM generate_series(1, $1::int) AS n`,
    [keys],
  );
  await db.query('ALTER TABLE beckon.idempotency ADD PRIMARY KEY (project_id, key)');
  await db.query('VACUUM ANALYZE beckon.idempotency');
  await db.query('CHECKPOINT');
}

async function generatorAlone(): Promise<number> {
  const responder = fork(join(import.meta.dirname, '../load/responder.ts'));
  const [{ port }] = (await once(responder, 'message')) as [{ port: number }];
  const plan = singleEvents([`sk_live_${'x'.repeat(40)}`], { kind: 'closed', connections: 64 }, 5);
  const { perSecond } = await runLoad({ host: '127.0.0.1', port, ...plan });
  responder.disconnect();
  return perSecond;
}
