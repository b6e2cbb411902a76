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
import { type Testbed, openTestbed, type Server } from '../testbed.ts';

/**
 * Imports the history of this many Stripe customers twice. One import runs without trouble. During the other, five workers are each killed
 * in the middle, and afterwards it is imported once more. Both projects must hold the same data, and no email.
 *
 * npm run bench -- stripe [customers] [--quick]
 */
export async function benchStripe(args: string[]): Promise<void> {
  const [named] = args.filter((arg) => !arg.startsWith('--'));
  const customers = named ?? (args.includes('--quick') ? QUICK_CUSTOMERS : CUSTOMERS);
  const now = Math.floor(Date.now() / 1_000);
  const stripe = await stripeServer(stripeAccount({ customers: Number(customers), seed: 8, now }));
  process.env['BENCH_STRIPE_PORT'] = String(stripe.address.port);
  const testbed = await openTestbed();
  try {
    await run({ testbed, stripe, customers: Number(customers) });
  } finally {
    await testbed.close();
    await stripe.close();
  }
}

type Stage = { testbed: Testbed; stripe: StripeServer; customers: number };

async function run({ testbed, stripe, customers }: Stage): Promise<void> {
  const { customers: allCustomers, subscriptions, invoices } = stripe.world;
  console.log(
    `${allCustomers.length} customers, ${subscriptions.length} subscriptions, ${invoices.length} invoices`,
  );
  let worker = await testbed.script(WORKER);
  const [clean, killed] = [await testbed.project(), await testbed.project()];
  const cleanRun = await importClean({ testbed, stripe, customers }, { projectId: clean.id, worker });

  const imported = await newImport(testbed, killed.id);
  await requestCheck(testbed.db, imported);
  for (const share of [0.2, 0.5, 0.9]) {
    worker = await killedWhen(testbed, worker, () =>
      isRead(testbed, imported, (share * invoices.length) | 0),
    );
  }
  await until(async () => (await requireImport(testbed.db, imported)).state === 'checked');
  await startImport(testbed.db, imported, { liveEvents: null });
  for (const share of [0.3, 0.7]) {
    worker = await killedWhen(testbed, worker, async () => {
      const { counts, state } = await requireImport(testbed.db, imported);
      return state === 'done' || counts.events >= share * cleanRun.events;
    });
  }
  await untilEnded(testbed, imported);
  const [whole, broken] = [await sumOf(testbed, clean.id), await sumOf(testbed, killed.id)];
  const again = await importClean({ testbed, stripe, customers }, { projectId: killed.id, worker });
  const rerun = await sumOf(testbed, killed.id);
  console.log('clean ', JSON.stringify(whole));
  console.log('killed', JSON.stringify(broken));
  console.log('again ', JSON.stringify(rerun), `new: ${again.eventsNew} events`);
  const isSame = [broken, rerun].every((sum) => JSON.stringify(sum) === JSON.stringify(whole));
  console.log(isSame && whole.emails === 0 ? 'The same three times, and no email.' : 'NOT THE SAME');
  if (!isSame || whole.emails !== 0) process.exitCode = 1;
}

const [CUSTOMERS, QUICK_CUSTOMERS] = ['10000', '1000'];
const WORKER = 'verification/bench/stripe/worker-process.ts';

async function newImport({ db, encrypter }: Testbed, projectId: number): Promise<Import> {
  const options = { kind: 'stripe', key: STRIPE_KEY, unmatchedAsCustomers: true } as const;
  return createImport(
    { db, newId: idMaker(db.clock), encrypter },
    { projectId, createdBy: 'operator', ...options },
  );
}

type Through = { projectId: number; worker: Server };

async function importClean(
  { testbed, stripe }: Stage,
  { projectId, worker }: Through,
): Promise<Import['counts']> {
  const imported = await newImport(testbed, projectId);
  stripe.requests.length = 0;
  const rss: number[] = [];
  const sampled = setInterval(() => rss.push(usageOf(worker.pid).rssBytes), 250);
  const began = performance.now();
  await requestCheck(testbed.db, imported);
  await until(async () => (await requireImport(testbed.db, imported)).state === 'checked');
  const checked = performance.now();
  await startImport(testbed.db, imported, { liveEvents: null });
  const finished = await untilEnded(testbed, imported);
  clearInterval(sampled);
  const s = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  const mb = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  const half = rss.length >> 1;
  console.log(
    `check ${s(checked - began)} (${stripe.requests.length} questions), run ${s(performance.now() - checked)}: ` +
      `${finished.counts.users} users, ${finished.counts.events} events; RSS ${mb(median(rss.slice(0, half)))} then ${mb(median(rss.slice(half)))}, ` +
      `at most ${mb(Math.max(...rss))}`,
  );
  return finished.counts;
}

/** Kills the worker as soon as the import came this far. The next worker begins when the lease of the killed one has expired. */
async function killedWhen(testbed: Testbed, worker: Server, isFar: () => Promise<boolean>): Promise<Server> {
  await until(isFar);
  process.kill(worker.pid, 'SIGKILL');
  return testbed.script(WORKER);
}

async function isRead({ db }: Testbed, imported: Import, invoices: number): Promise<boolean> {
  const rows = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM beckon.billing_object WHERE project_id = $1 AND import_id = $2 AND kind = 'invoice'`,
    [imported.projectId, imported.id],
  );
  return (rows[0]?.count ?? 0) >= invoices;
}

async function untilEnded(testbed: Testbed, imported: Import): Promise<Import> {
  await until(async () =>
    ['done', 'failed', 'paused'].includes((await requireImport(testbed.db, imported)).state),
  );
  const finished = await requireImport(testbed.db, imported);
  if (finished.state !== 'done') throw new Error(`the import is ${finished.state}: ${finished.problem}`);
  await until(async () => {
    const rows = await testbed.db.query(`SELECT 1 FROM beckon.ingest_queue WHERE project_id = $1 LIMIT 1`, [
      imported.projectId,
    ]);
    return rows.length === 0;
  });
  return finished;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(50);
}

type Sum = { people: number; peopleHash: string; events: number; eventsHash: string; emails: number };

/** Returns counts of what a project holds. */
async function sumOf({ db }: Testbed, projectId: number): Promise<Sum> {
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
