import type { EventInput, UserInput } from '@beckon/contract';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { testHasher } from '../../../../testing/factories/send-services.ts';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { openEngine } from '../../../../testing/factories/engine.ts';
import { putRecords } from '../../../../testing/factories/ingest-queue.ts';
import expected from '../../../../testing/cases/stripe-events.json' with { type: 'json' };
import { stripeCustomer } from '../../../../testing/factories/stripe-objects.ts';
import { SCENARIOS_AT, scenarioWorld } from '../../../../testing/factories/stripe-scenarios.ts';
import { STRIPE_KEY, stripeServer } from '../../../../testing/servers/stripe-server.ts';
import { idMaker } from '../../../platform/ids.ts';
import { insertImport } from '../store.ts';
import { NOTHING_COUNTED } from '../import.ts';
import type { ImportChunk, SourcePosition } from '../source.ts';
import { openStripe } from '../stripe-api/open-stripe.ts';
import { createProject } from '../../administration/create-project.ts';
import { erasePerson } from '../../profiles/erase-user.ts';
import { stripeSources } from './stripe-source.ts';

const clock = fixedClock(SCENARIOS_AT);
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);
const newId = idMaker(clock);
const stripe = await stripeServer(scenarioWorld());
const waited: number[] = [];
const wait = (ms: number): Promise<void> => (waited.push(ms), Promise.resolve());
const sources = stripeSources({
  db,
  openReader: (key) => openStripe({ key, address: stripe.address, wait }),
});

afterAll(() => stripe.close());
beforeEach(() => {
  stripe.requests.length = 0;
  stripe.failures.length = 0;
  stripe.beforeResponse = () => undefined;
  stripe.keys.set(STRIPE_KEY, new Set());
  waited.length = 0;
});

const KNOWN = [
  { external_user_id: 'known', email: 'known@example.com' },
  { external_user_id: 'shared1', email: 'shared@example.com' },
  { external_user_id: 'shared2', email: 'Shared@example.com' },
];

async function newImport(): Promise<{ projectId: number; importId: string }> {
  const { id: projectId } = await createProject(db, { name: 'Acme' });
  await putRecords(db, { projectId, kind: 'users', records: KNOWN });
  await engine.settle();
  return { projectId, importId: await importIn(projectId) };
}

async function importIn(projectId: number): Promise<string> {
  const id = newId();
  const unused = { sizeBytes: null, fileModifiedAt: null, options: null, encryptedKey: null };
  const made = { createdAt: clock.now(), createdBy: 'operator', counts: NOTHING_COUNTED };
  await insertImport(db, {
    projectId,
    id,
    kind: 'stripe',
    name: 'Stripe',
    state: 'ready',
    ...unused,
    ...made,
  });
  return id;
}

type SourceOptions = { projectId: number; importId: string; unmatchedAsCustomers?: boolean; key?: string };

function read(
  options: SourceOptions,
  after: SourcePosition | null = null,
  signal = new AbortController().signal,
) {
  const source = sources({ unmatchedAsCustomers: false, key: STRIPE_KEY, asOf: clock.now(), ...options });
  return source.read(after, signal);
}

const all = (options: SourceOptions, after: SourcePosition | null = null): Promise<ImportChunk[]> =>
  Array.fromAsync(read(options, after));

function eventsOf(chunks: ImportChunk[]): { [user: string]: EventInput[] } {
  return Object.fromEntries(
    Map.groupBy(
      chunks.flatMap(({ events }) => events),
      (event) => event.external_user_id,
    ),
  );
}

function usersOf(chunks: ImportChunk[]): { [user: string]: UserInput } {
  const users = chunks.flatMap((chunk) => chunk.users);
  expect(new Set(users.map((user) => user.external_user_id)).size).toBe(users.length);
  return Object.fromEntries(users.map((user) => [user.external_user_id, user]));
}

function sum(chunks: ImportChunk[], name: string): number {
  return chunks.reduce((total, { facts }) => total + (facts?.[name] ?? 0), 0);
}

type ExpectedEvent = [string, string, string, { [name: string]: string | number }];

/** Converts an event to the form of the handwritten expectations. The invoices of a scenario differ only in their time. */
function expectedForm({
  occurred_at: at = '',
  name,
  message_id: id = '',
  properties,
}: EventInput): ExpectedEvent {
  const [, object = '', fact, time] = id.split(':');
  expect(time).toBe(String(Date.parse(at) / 1_000));
  const plain = object.startsWith('in_') ? object.replace(/\d+$/, '') : object;
  return [at, name, `${plain}:${fact}`, properties as ExpectedEvent[3]];
}

test('turns every scenario into exactly the events written for it by hand', async () => {
  const chunks = await all({ ...(await newImport()), unmatchedAsCustomers: true });
  const events = eventsOf(chunks);
  expect(Object.keys(events).toSorted()).toEqual(Object.keys(expected).toSorted());
  for (const [user, expectedEvents] of Object.entries(expected)) {
    expect({ [user]: events[user]?.map(expectedForm) }).toEqual({ [user]: expectedEvents });
  }
});

test('brings all traits of new users, and only the billing traits of known users', async () => {
  const users = usersOf(await all(await newImport()));
  expect(users['known']).toEqual({
    external_user_id: 'known',
    traits: { currency: 'USD', delinquent: true, stripe_customer_id: 'cus_by_address' },
  });
  expect(users['pair']).toEqual({
    external_user_id: 'pair',
    email: 'pair@example.com',
    traits: {
      name: 'Newest',
      signupDate: '2026-02-01T00:00:00.000Z',
      currency: 'USD',
      delinquent: false,
      stripe_customer_id: 'cus_named',
    },
  });
  expect(users['upgrades']?.traits).toMatchObject({ plan: 'Pro' });
  expect(users['lapses']?.traits).not.toHaveProperty('plan');
  expect(users['no_mail']).not.toHaveProperty('email');
  expect(users['odd \ufffd']?.traits).toMatchObject({ name: 'Zoe' });
});

test('matches a customer by metadata or by an address of a single user, and counts and lists the others', async () => {
  const chunks = await all(await newImport());
  expect(sum(chunks, 'unmatched_customers')).toBe(4);
  expect(sum(chunks, 'deleted_customers')).toBe(1);
  expect(sum(chunks, 'matched_by_email')).toBe(2);
  expect(chunks.flatMap(({ notes }) => notes ?? []).filter(({ kind }) => kind === 'unmatched_customer'))
    .toMatchInlineSnapshot(`
    [
      {
        "kind": "unmatched_customer",
        "subject": "cus_gone",
        "text": "The customer was deleted in Stripe.",
      },
      {
        "kind": "unmatched_customer",
        "subject": "cus_nothing",
        "text": "The customer has neither a user_id in its metadata nor an email address.",
      },
      {
        "kind": "unmatched_customer",
        "subject": "cus_stranger",
        "text": "No user has the address of the customer.",
      },
      {
        "kind": "unmatched_customer",
        "subject": "cus_two_people",
        "text": "Several users have the address of the customer.",
      },
    ]
  `);
  expect(Object.keys(eventsOf(chunks)).filter((user) => user.startsWith('cus_'))).toEqual([]);
});

test('names running trials, which get no reminder', async () => {
  const chunks = await all(await newImport());
  expect(sum(chunks, 'trials_without_reminder')).toBe(1);
  expect(chunks.flatMap(({ notes }) => notes ?? []).find(({ kind }) => kind === 'trial_without_reminder'))
    .toMatchInlineSnapshot(`
    {
      "kind": "trial_without_reminder",
      "subject": "running",
      "text": "The trial of Pro ends at 2026-06-08T00:00:00.000Z. No email will be drafted before it.",
    }
  `);
});

test('counts every object as one row, whether it was read now or before', async () => {
  const options = await newImport();
  const check = await all(options);
  const requestsBefore = stripe.requests.length;
  const run = await all(options);
  const rows = (chunks: ImportChunk[]): number => chunks.reduce((total, chunk) => total + chunk.rows, 0);
  const counted = sum(run, 'customers') + sum(run, 'subscriptions') + sum(run, 'invoices');
  expect([rows(check), rows(run)]).toEqual([counted, counted]);
  // The check stored the data, so the run sends Stripe no requests and yields the same events.
  expect(stripe.requests.length).toBe(requestsBefore);
  expect(eventsOf(run)).toEqual(eventsOf(check));
});

test('yields the same records after every position, however the position was reached', async () => {
  const options = await newImport();
  await all(options);
  const chunks = await all(options);
  for (const [i, { position }] of chunks.entries()) {
    expect(await all(options, position)).toEqual(chunks.slice(i + 1));
  }
});

test('repeats at most one page of Stripe after each stop', async () => {
  const options = await newImport();
  const whole = await newImport();
  const clean = await all(whole);
  const requests = stripe.requests.length;
  stripe.requests.length = 0;
  // Each attempt is stopped at its seventh request. Some answers arrive but are not stored.
  for (let stopped = 0; stopped < 6; stopped += 1) {
    const stop = new AbortController();
    let left = 7;
    stripe.beforeResponse = () => {
      left -= 1;
      if (left === 0) stop.abort(new Error('stopped'));
    };
    await Array.fromAsync(read(options, null, stop.signal)).catch((error: unknown) =>
      expect(error).toBe(stop.signal.reason),
    );
  }
  stripe.beforeResponse = () => undefined;
  expect(eventsOf(await all(options))).toEqual(eventsOf(clean));
  // Every start checks the permissions of the key, which takes five requests. A page of invoices takes three, because two of its invoices
  // have many lines.
  expect(stripe.requests.length).toBeLessThanOrEqual(requests + 6 * (5 + 3));
});

test('matches every customer the same in a second import, whatever users the first one created', async () => {
  const options = { ...(await newImport()), unmatchedAsCustomers: true };
  const first = await all(options);
  await putRecords(db, {
    projectId: options.projectId,
    priority: 'bulk',
    kind: 'users',
    records: Object.values(usersOf(first)),
  });
  await engine.settle();
  const second = await all({ ...options, importId: await importIn(options.projectId) });
  const facts = (chunks: ImportChunk[]): string[] =>
    chunks.flatMap(({ events }) => events.map((event) => `${event.external_user_id} ${event.message_id}`));
  // Users who are known by now get no sign-up event again. All other events are the same, so they have no effect.
  const isSignUp = (fact: string): boolean => fact.includes(':created:');
  expect(facts(second)).toEqual(facts(first).filter((fact) => !isSignUp(fact)));
});

test('deletes the stored data of a user who is erased between the check and the run, and does not import them', async () => {
  const options = await newImport();
  await all(options);
  for (const userId of ['known', 'upgrades']) {
    await putRecords(db, {
      projectId: options.projectId,
      kind: 'users',
      records: [{ external_user_id: userId }],
    });
    await engine.settle();
    await erasePerson({ db, newId, hasher: testHasher }, { projectId: options.projectId, userId });
  }
  const left = await db.query(
    `SELECT customer_id FROM beckon.billing_customer WHERE import_id = $1 AND customer_id IN ('cus_by_address', 'cus_upgrades')
     UNION ALL SELECT object_id FROM beckon.billing_object WHERE import_id = $1 AND customer_id IN ('cus_by_address', 'cus_upgrades')`,
    [options.importId],
  );
  expect(left).toEqual([]);
  const users = usersOf(await all(options));
  expect([users['known'], users['upgrades']]).toEqual([undefined, undefined]);
});

test('leaves a customer created during the read to the next import', async () => {
  const options = await newImport();
  stripe.beforeResponse = ({ pathname }) => {
    if (pathname !== '/v1/subscriptions') return;
    const id = `cus_new${stripe.world.customers.length}`;
    stripe.world.customers.push(stripeCustomer(id, SCENARIOS_AT / 1_000 + 60, { metadata: { user_id: id } }));
  };
  const chunks = await all(options);
  expect(Object.keys(usersOf(chunks)).filter((user) => user.startsWith('cus_new'))).toEqual([]);
});
