import { setTimeout as sleep } from 'node:timers/promises';
import { idMaker } from '../../../packages/server/src/platform/ids.ts';
import type { Import } from '../../../packages/server/src/modules/imports/import.ts';
import {
  requestCheck,
  createImport,
  requireImport,
  startImport,
} from '../../../packages/server/src/modules/imports/run/manage-imports.ts';
import { stripeAccount } from '../../../packages/server/testing/factories/stripe-account.ts';
import {
  STRIPE_KEY,
  stripeServer,
  type StripeServer,
} from '../../../packages/server/testing/servers/stripe-server.ts';
import { median, usageOf } from '../measure.ts';
import { type Ground, openGround, type Server } from '../stage.ts';

/**
 * Imports the history of this many Stripe customers twice. One import runs without trouble. During the other, five workers are each killed
 * in the middle, and afterwards it is imported once more. Both projects must hold the same data, and no email.
 *
 * npm run bench -- stripe [customers]
 */
export async function benchStripe([customers = '10000']: string[]): Promise<void> {
  const now = Math.floor(Date.now() / 1_000);
  const stripe = await stripeServer(stripeAccount({ customers: Number(customers), seed: 8, now }));
  process.env['BENCH_STRIPE_PORT'] = String(stripe.address.port);
  const ground = await openGround();
  try {
    await run({ ground, stripe, customers: Number(customers) });
  } finally {
    await ground.close();
    await stripe.close();
  }
}

type Stage = { ground: Ground; stripe: StripeServer; customers: number };

async function run({ ground, stripe, customers }: Stage): Promise<void> {
  const { customers: there, subscriptions, invoices } = stripe.world;
  console.log(
    `${there.length} customers, ${subscriptions.length} subscriptions, ${invoices.length} invoices`,
  );
  let worker = await ground.script(WORKER);
  const [clean, killed] = [await ground.project(), await ground.project()];
  const cleanly = await importClean({ ground, stripe, customers }, { projectId: clean.id, worker });

  const one = await newImport(ground, killed.id);
  await requestCheck(ground.db, one);
  for (const share of [0.2, 0.5, 0.9]) {
    worker = await killedWhen(ground, worker, () => isRead(ground, one, (share * invoices.length) | 0));
  }
  await until(async () => (await requireImport(ground.db, one)).state === 'checked');
  await startImport(ground.db, one, { liveEvents: null });
  for (const share of [0.3, 0.7]) {
    worker = await killedWhen(ground, worker, async () => {
      const { counts, state } = await requireImport(ground.db, one);
      return state === 'done' || counts.events >= share * cleanly.events;
    });
  }
  await ended(ground, one);
  const [whole, broken] = [await sumOf(ground, clean.id), await sumOf(ground, killed.id)];
  const again = await importClean({ ground, stripe, customers }, { projectId: killed.id, worker });
  const rerun = await sumOf(ground, killed.id);
  console.log('clean ', JSON.stringify(whole));
  console.log('killed', JSON.stringify(broken));
  console.log('again ', JSON.stringify(rerun), `new: ${again.eventsNew} events`);
  const isSame = [broken, rerun].every((sum) => JSON.stringify(sum) === JSON.stringify(whole));
  console.log(isSame && whole.emails === 0 ? 'The same three times, and no email.' : 'NOT THE SAME');
  if (!isSame || whole.emails !== 0) process.exitCode = 1;
}

const WORKER = 'verification/bench/stripe/worker-process.ts';

async function newImport({ db, encrypter }: Ground, projectId: number): Promise<Import> {
  const wanted = { kind: 'stripe', key: STRIPE_KEY, unmatchedAsCustomers: true } as const;
  return createImport(
    { db, newId: idMaker(db.clock), encrypter },
    { projectId, createdBy: 'operator', ...wanted },
  );
}

type Through = { projectId: number; worker: Server };

async function importClean(
  { ground, stripe }: Stage,
  { projectId, worker }: Through,
): Promise<Import['counts']> {
  const one = await newImport(ground, projectId);
  stripe.requests.length = 0;
  const rss: number[] = [];
  const sampled = setInterval(() => rss.push(usageOf(worker.pid).rssBytes), 250);
  const began = performance.now();
  await requestCheck(ground.db, one);
  await until(async () => (await requireImport(ground.db, one)).state === 'checked');
  const checked = performance.now();
  await startImport(ground.db, one, { liveEvents: null });
  const done = await ended(ground, one);
  clearInterval(sampled);
  const s = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  const mb = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  const half = rss.length >> 1;
  console.log(
    `check ${s(checked - began)} (${stripe.requests.length} questions), run ${s(performance.now() - checked)}: ` +
      `${done.counts.users} users, ${done.counts.events} events; RSS ${mb(median(rss.slice(0, half)))} then ${mb(median(rss.slice(half)))}, ` +
      `at most ${mb(Math.max(...rss))}`,
  );
  return done.counts;
}

/** Kills the worker as soon as the import came this far. The next worker begins when the lease of the killed one has expired. */
async function killedWhen(ground: Ground, worker: Server, isFar: () => Promise<boolean>): Promise<Server> {
  await until(isFar);
  process.kill(worker.pid, 'SIGKILL');
  return ground.script(WORKER);
}

async function isRead({ db }: Ground, one: Import, invoices: number): Promise<boolean> {
  const rows = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM beckon.billing_object WHERE project_id = $1 AND import_id = $2 AND kind = 'invoice'`,
    [one.projectId, one.id],
  );
  return (rows[0]?.count ?? 0) >= invoices;
}

async function ended(ground: Ground, one: Import): Promise<Import> {
  await until(async () => ['done', 'failed', 'paused'].includes((await requireImport(ground.db, one)).state));
  const done = await requireImport(ground.db, one);
  if (done.state !== 'done') throw new Error(`the import is ${done.state}: ${done.problem}`);
  await until(async () => {
    const rows = await ground.db.query(`SELECT 1 FROM beckon.ingest_queue WHERE project_id = $1 LIMIT 1`, [
      one.projectId,
    ]);
    return rows.length === 0;
  });
  return done;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(50);
}

type Sum = { people: number; peopleHash: string; events: number; eventsHash: string; emails: number };

/** Returns counts of what a project holds. */
async function sumOf({ db }: Ground, projectId: number): Promise<Sum> {
  const [sum] = await db.query<Sum>(
    `SELECT
       (SELECT count(*) FROM beckon.person WHERE project_id = $1) AS people,
       (SELECT md5(string_agg(md5(concat_ws('|', p.external_user_id, p.traits::text, p.plan, e.email)), '' ORDER BY p.external_user_id))
        FROM beckon.person p LEFT JOIN beckon.person_email e USING (project_id, external_user_id) WHERE p.project_id = $1) AS "peopleHash",
       (SELECT count(*) FROM beckon.event WHERE project_id = $1) AS events,
       (SELECT md5(string_agg(h, '' ORDER BY h)) FROM (
          SELECT md5(concat_ws('|', external_user_id, name, properties::text, occurred_at, suppressed)) AS h
          FROM beckon.event WHERE project_id = $1) e) AS "eventsHash",
       (SELECT count(*) FROM beckon.draft WHERE project_id = $1) + (SELECT count(*) FROM beckon.email WHERE project_id = $1) AS emails`,
    [projectId],
  );
  if (!sum) throw new Error('a project without a sum');
  return sum;
}
