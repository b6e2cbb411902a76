import { afterAll, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { openEngine } from '../../../../testing/factories/engine.ts';
import { putRecords } from '../../../../testing/factories/ingest-queue.ts';
import { importDeps, workThrough } from '../../../../testing/factories/imports.ts';
import { stripeAccount } from '../../../../testing/factories/stripe-account.ts';
import { STRIPE_KEY, stripeServer } from '../../../../testing/servers/stripe-server.ts';
import { idMaker } from '../../../platform/ids.ts';
import type { Import } from '../import.ts';
import type { ImportRef } from '../store.ts';
import { openStripe } from '../stripe-api/open-stripe.ts';
import { createProject } from '../../administration/create-project.ts';
import { requestCheck, createImport, requireImport, replaceKey, startImport } from '../run/manage-imports.ts';
import { claimImport, workOn } from '../run/work-on.ts';
import { stripeSources } from './stripe-source.ts';

const NOW = Date.parse('2026-06-01T00:00:00.000Z');
/** These customers make two chunks of events; a chunk has 1,000. */
const CUSTOMERS = 270;
const clock = fixedClock(NOW);
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);
const stripe = await stripeServer(stripeAccount({ customers: CUSTOMERS, seed: 8, now: NOW / 1_000 }));
let stop = new AbortController();
/** Called after every accepted chunk. */
let accepted = (): void => undefined;
const deps = {
  ...importDeps(db),
  openStripe: stripeSources({
    db,
    openReader: (key) => openStripe({ key, address: stripe.address, wait: () => Promise.resolve() }),
  }),
  accepted: () => accepted(),
};

afterAll(() => stripe.close());

function newImport(projectId: number): Promise<Import> {
  const made = { db, newId: idMaker(db.clock), encrypter: deps.encrypter };
  const input = { kind: 'stripe', key: STRIPE_KEY, unmatchedAsCustomers: true } as const;
  return createImport(made, { projectId, createdBy: 'operator', ...input });
}

async function newProject(): Promise<number> {
  return (await createProject(db, { name: 'Acme' })).id;
}

/** Stops a worker after each of the given numbers of steps, and lets the next worker continue. */
async function workStopped(steps: number[], onStep: (step: () => void) => void): Promise<void> {
  for (const after of steps) {
    let left = after;
    stop = new AbortController();
    onStep(() => {
      left -= 1;
      if (left === 0) stop.abort(new Error('stopped'));
    });
    const job = await claimImport(deps);
    if (job) await workOn(deps, job, stop.signal);
    expect(stop.signal.aborted).toBe(true);
  }
  onStep(() => undefined);
  await workThrough(deps);
}

async function importStopped(job: Import): Promise<void> {
  await requestCheck(db, job);
  await workStopped([3, 9, 14, 16], (step) => {
    stripe.beforeResponse = step;
  });
  await startImport(db, job, { liveEvents: null });
  await workStopped([1], (step) => {
    accepted = step;
  });
}

async function importClean(ref: ImportRef): Promise<Import> {
  await requestCheck(db, ref);
  await workThrough(deps);
  await startImport(db, ref, { liveEvents: null });
  await workThrough(deps);
  return requireImport(db, ref);
}

async function projectData(
  projectId: number,
): Promise<{ people: object[]; events: object[]; emails: number }> {
  await engine.settle();
  const people = await db.query(
    `SELECT p.external_user_id, p.traits, p.plan, e.email FROM beckon.person p LEFT JOIN beckon.person_email e
     ON e.project_id = p.project_id AND e.external_user_id = p.external_user_id WHERE p.project_id = $1 ORDER BY 1`,
    [projectId],
  );
  const events = await db.query(
    `SELECT external_user_id, name, properties, occurred_at, suppressed FROM beckon.event WHERE project_id = $1 ORDER BY 1, 2, 4`,
    [projectId],
  );
  const [emails] = await db.query<{ count: number }>(
    `SELECT (SELECT count(*) FROM beckon.draft WHERE project_id = $1) + (SELECT count(*) FROM beckon.email WHERE project_id = $1) AS count`,
    [projectId],
  );
  return { people, events, emails: emails?.count ?? -1 };
}

function leftOf({ id }: Import): Promise<object[]> {
  return db.query(
    `SELECT (SELECT count(*) FROM beckon.billing_object WHERE import_id = $1) + (SELECT count(*) FROM beckon.billing_customer WHERE import_id = $1)
       + (SELECT count(*) FROM beckon.billing_snapshot WHERE import_id = $1) AS rows, i.encrypted_key IS NOT NULL AS key
     FROM beckon.import i WHERE i.id = $1`,
    [id],
  );
}

/** Returns the sign-ups of the last 24 hours, which are recent enough for a welcome email. */
function freshOf(projectId: number): Promise<object[]> {
  return db.query(
    `SELECT external_user_id, name, properties FROM beckon.event
     WHERE project_id = $1 AND name = 'user_signed_up' AND occurred_at > $2`,
    [projectId, new Date(NOW - 86_400_000)],
  );
}

test('ends like a clean run after five stops and a repeated import, and drafts no emails', async () => {
  const [clean, stopped] = [await newProject(), await newProject()];
  const job = await importClean(await newImport(clean));
  expect(job.state).toBe('done');
  // The data read from Stripe is deleted with the import, and so is the key.
  expect(await leftOf(job)).toEqual([{ rows: 0, key: false }]);
  const cleanly = await projectData(clean);

  const broken = await newImport(stopped);
  await importStopped(broken);
  const finished = await requireImport(db, broken);
  expect([finished.state, finished.counts.events, finished.counts.users]).toEqual([
    'done',
    job.counts.events,
    job.counts.users,
  ]);
  expect(finished.facts).toEqual(job.facts);
  expect(await projectData(stopped)).toEqual(cleanly);

  const again = await importClean(await newImport(stopped));
  expect([again.state, again.counts.eventsNew, again.counts.usersNew]).toEqual(['done', 0, 0]);
  expect(await projectData(stopped)).toEqual(cleanly);

  expect(cleanly.emails).toBe(0);
  expect(cleanly.events.length).toBeGreaterThan(1_000);
  expect(new Set(cleanly.events.map((event) => 'name' in event && event.name)).size).toBe(6);
  // Sent as live events, the same data does cause emails.
  const live = await newProject();
  await putRecords(db, { projectId: live, kind: 'events', records: await freshOf(clean) });
  expect((await projectData(live)).emails).toBeGreaterThan(0);
  // Three weeks later every trial has ended, and the imported events still start no rule.
  await engine.advance(21 * 86_400_000);
  expect((await projectData(stopped)).emails).toBe(0);
});

test('stops the check with the reason when the key is revoked, and continues with a new key', async () => {
  const projectId = await newProject();
  const job = await newImport(projectId);
  stripe.requests.length = 0;
  stripe.beforeResponse = () => {
    if (stripe.requests.length === 20) stripe.keys.delete(STRIPE_KEY);
  };
  await requestCheck(db, job);
  await workThrough(deps);
  const halted = await requireImport(db, job);
  expect(halted).toMatchObject({ state: 'ready', problem: expect.any(String) });
  expect(stripe.requests.length).toBe(20);

  const fresh = 'rk_live_51AnotherKeyForTests';
  stripe.keys.set(fresh, new Set());
  stripe.keys.set(STRIPE_KEY, new Set());
  stripe.beforeResponse = () => undefined;
  await replaceKey(deps, job, fresh);
  stripe.requests.length = 0;
  await requestCheck(db, job);
  await workThrough(deps);
  expect((await requireImport(db, job)).state).toBe('checked');
  // The customers were read before the key was revoked.
  const requests = stripe.requests.map(
    ({ pathname, searchParams }) => `${pathname} ${searchParams.get('limit')}`,
  );
  expect(requests.filter((request) => request === '/v1/customers 100')).toEqual([]);
});
