import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { heldClock } from '../../testkit/clock.ts';
import { openTestDatabase } from '../../testkit/database.ts';
import { openEngine } from '../../testkit/engine.ts';
import { putRecords } from '../../testkit/inbox.ts';
import { type Ran, typed } from '../../testkit/typed-command.ts';
import { createProject } from '../flows/create-project.ts';
import { createRule } from '../flows/create-rule.ts';

const clock = heldClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);
const directory = await mkdtemp(join(tmpdir(), 'beckon-explain-'));
afterAll(() => rm(directory, { recursive: true }));

/** A command as it is typed, for this test's project. */
const type = (...args: string[]): Promise<Ran> => typed({ db }, [...args, '--project', String(projectId)]);

const PAID = {
  name: 'paid',
  when: { event: 'paid' },
  only_if: {
    all: [
      { trait: 'plan', equals: 'pro' },
      { trait: 'country', equals: 'FR' },
    ],
  },
  steps: [{ draft: { subject: 'Thank you', body: 'For {{ event.what }}' } }],
};

let projectId = 0;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
  await createRule(db, { projectId, document: PAID });
  clock.advance(1_000);
});

async function pay(traits: object, what = 'tea'): Promise<void> {
  const records = [{ external_user_id: 'u1', email: 'ada@example.org', traits }];
  await putRecords(db, { projectId, kind: 'users', records });
  const events = [{ external_user_id: 'u1', name: 'paid', properties: { what } }];
  await putRecords(db, { projectId, kind: 'events', records: events });
  await engine.settle();
}
const now = (): string => new Date(clock.now()).toISOString();

test('explain prints an array of rows with rule, fired, reason, detail and at', async () => {
  await pay({ plan: 'pro', country: 'FR' });
  const { json, code } = await type('explain', '--user', 'u1', '--rule', 'paid', '--json');
  expect(code).toBe(0);
  expect(json).toMatchObject([
    { rule: 'paid', fired: true, reason: 'fired', detail: { event: 'paid' }, at: now(), count: 1 },
  ]);
  expect((await type('explain', '--user', 'u1', '--json')).json).toHaveLength(5);
});

test('in words it says why not, which part of the condition fails, and what would be decided now', async () => {
  await pay({ plan: 'pro', country: 'DE' });
  const { out } = await type('explain', '--user', 'u1', '--rule', 'paid');
  expect(out).toContain('paid: it did not fire: the condition does not hold\n');
  expect(out).toContain(`  waits for: when paid happens, last at ${now()}\n`);
  expect(out).toMatch(
    /would pass if:\n +no {3}plan is pro and country is FR\n +yes {2}plan is pro\n +no {3}country is FR\n/,
  );
  await pay({ country: 'FR' });
  const { out: fired } = await type('explain', '--user', 'u1', '--rule', 'paid');
  expect(fired).toContain(`paid: it fired, the last time at ${now()}\n`);
  expect(fired).toMatch(/letter \S+ “Thank you”: scheduled, its deadline is/);
  expect(fired).toContain('the user was already enrolled with the same key (already_entered)');
});

test('explain of somebody unknown, or of no such rule, fails in words', async () => {
  await pay({});
  expect(await type('explain', '--user', 'nobody')).toMatchObject({ code: 1, out: '' });
  expect((await type('explain', '--user', 'u1', '--rule', 'none')).err).toContain('There is no rule "none"');
});

test('policy simulate takes what settings set takes, and tells who fares otherwise', async () => {
  await pay({ plan: 'pro', country: 'FR' });
  const { json } = await type('policy', 'simulate', 'paused=true', '--json');
  expect(json).toMatchObject({
    drafts: 1,
    today: { leaves: 1 },
    changed: { leaves: 0, held: { paused: 1 } },
  });
  const { out } = await type('policy', 'simulate', 'paused=true');
  expect(out).toMatch(/today +1/);
  expect(out).toMatch(/paid +u1 +leaves .* +held \(paused\)/);
  expect(await type('policy', 'simulate', 'quiet_hours')).toMatchObject({ code: 1, out: '' });
  expect((await type('policy', 'simulate', 'autopilot=2h')).err).toContain('autopilot changes nothing');
});

test('rule backtest takes a saved rule or a file, and one of them', async () => {
  await pay({ plan: 'pro', country: 'DE' }, 'tea');
  const file = join(directory, 'rule.json');
  await writeFile(file, JSON.stringify({ ...PAID, only_if: { trait: 'plan', equals: 'pro' } }));
  const saved = await type('rule', 'backtest', '--rule', 'paid', '--since', '30d', '--json');
  expect(saved.json).toMatchObject({
    rule: 'paid',
    is_saved: true,
    entered: { people: 0 },
    refused: [{ reason: 'only_if', count: 1 }],
    difference: null,
  });
  const { json } = await type('rule', 'backtest', '--file', file, '--since', '30d', '--json');
  expect(json).toMatchObject({
    is_saved: false,
    entered: { people: 1 },
    samples: [{ external_user_id: 'u1', subject: 'Thank you', body: 'For tea' }],
    difference: { version: 1, added: { people: 1, external_user_ids: ['u1'] }, removed: { people: 0 } },
  });
  const { out } = await type('rule', 'backtest', '--file', file, '--since', '30d');
  expect(out).toContain('1 people in 1 runs');
  expect(out).toContain('Against version 1, which is saved: 1 people more, 0 fewer, +1 letters');
  expect(out).toContain('    For tea');
  expect(await type('rule', 'backtest', '--since', '30d')).toMatchObject({ code: 1 });
  expect(await type('rule', 'backtest', '--rule', 'paid', '--since', 'long')).toMatchObject({ code: 2 });
});

test('of somebody who is left alone it says so in words, while their letter waits and when it was to leave', async () => {
  await type('suppression', 'add', '--user', 'u1', '--reason', 'unsubscribed');
  await pay({ plan: 'pro', country: 'FR' });
  const explained = async (): Promise<string> =>
    (await type('explain', '--user', 'u1', '--rule', 'paid')).out;
  const alone = 'the user or the address is suppressed';
  expect(await explained()).toContain(
    `now held until somebody changes that: ${alone} (suppressed): suppression unsubscribed`,
  );
  expect(await type('draft', 'approve', '--rule', 'paid')).toMatchObject({ code: 0 });
  clock.advance(3_600_000);
  await engine.settle();
  expect(await explained()).toContain(`${alone} (email_suppressed)`);
  expect(await explained()).not.toContain('null');
});
