import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { testSendServices } from '../../../testing/factories/send-services.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { openEngine } from '../../../testing/factories/engine.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { createProject } from '../administration/create-project.ts';
import { createRule, editRule } from '../rules/write-rule.ts';
import { disableRule } from '../rules/switch-rule.ts';
import { setSettings } from '../administration/set-settings.ts';
import { explainPerson, type ExplainedRow } from './explain.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let projectId = 0;
beforeEach(async () => {
  clock.advance(DAY);
  projectId = (await createProject(db, { name: 'Acme' })).id;
  await setSettings(db, projectId, { quiet_hours: 'off' });
  clock.advance(MINUTE);
});

async function happen(name: string, properties: object = {}, more: object = {}): Promise<void> {
  const record = { external_user_id: 'u1', name, properties, ...more };
  await putRecords(db, { projectId, kind: 'events', records: [record] });
  await engine.settle();
}
async function know(traits: object, more: object = { email: 'ada@example.org' }): Promise<void> {
  const records = [{ external_user_id: 'u1', traits, ...more }];
  await putRecords(db, { projectId, kind: 'users', records });
  await engine.settle();
}
const why = (rule: string | null = null) =>
  explainPerson({ db, sendServices: testSendServices() }, { projectId, userId: 'u1', rule });
const firstRow = async (rule: string): Promise<ExplainedRow> => {
  const [row] = await why(rule);
  if (!row) throw new Error(`nothing is told of ${rule}`);
  return row;
};

const VIP = {
  name: 'vip',
  when: { event: 'order_placed', where: [{ property: 'total', at_least: 100 }] },
  only_if: {
    all: [
      { trait: 'plan', equals: 'pro' },
      { event: 'order_placed', at_least: 2 },
    ],
  },
  steps: [{ draft: { subject: 'Thank you', body: 'Hello' } }],
};

test('returns every row of the decision log, newest first, and evaluates rules without one', async () => {
  await createRule(db, { projectId, document: VIP });
  await know({ plan: 'free' });
  await happen('user_signed_up');
  await happen('user_signed_up', {}, { message_id: 'twice' });
  clock.advance(HOUR);
  await happen('order_placed', { total: 5 });
  await happen('order_placed', { total: 500 });
  await engine.advance(2 * HOUR);
  await happen('usage_threshold_reached', { usagePercent: 85, meter: 'seats' });
  await engine.advance(3 * HOUR);
  const rows = await why();
  const stored = await db.query<{ rule: string; key: string; reason: string; count: number; at: Date }>(
    `SELECT r.name AS rule, d.key, d.reason, d.count, d.last_at AS at FROM beckon.decision d
     JOIN beckon.rule r ON r.project_id = d.project_id AND r.id = d.rule_id
     WHERE d.project_id = $1 AND d.external_user_id = 'u1' ORDER BY d.last_at DESC, d.rule_id, d.key, d.reason`,
    [projectId],
  );
  const decided = rows.filter(({ count }) => count > 0);
  expect(decided.map(({ rule, key, reason, count, at }) => ({ rule, key, reason, count, at }))).toEqual(
    stored.map(({ at, ...row }) => ({ ...row, at: at.toISOString() })),
  );
  expect(decided.map(({ rule, reason, fired }) => [rule, reason, fired])).toEqual(
    expect.arrayContaining([
      ['welcome', 'fired', true],
      ['welcome', 'already_entered', false],
      ['welcome', 'claimed', false],
      ['plan_limit_upsell', 'frequency_cap', false],
      ['onboarding_stall', 'starts_later', false],
      ['vip', 'filter', false],
      ['vip', 'only_if', false],
    ]),
  );
  expect(rows.filter(({ count }) => count === 0)).toMatchObject([
    {
      rule: 'trial_expiring',
      fired: false,
      reason: 'not_considered',
      at: new Date(clock.now()).toISOString(),
      detail: { evaluated_now: true, triggers: [{ last_seen_at: null }, { last_seen_at: null }] },
    },
  ]);
});

test('predicts that a rule would fire, and the rule then fires', async () => {
  await createRule(db, { projectId, document: VIP });
  await know({ plan: 'pro' });
  const before = await firstRow('vip');
  expect(before.now).toMatchObject({
    would_fire: false,
    triggers: [
      {
        reason: 'only_if',
        note: 'if it passes the property filter',
        would_pass_if: [
          { holds: false, conditions: [{ sentence: 'plan is pro', holds: true }, { holds: false }] },
        ],
      },
    ],
  });
  await happen('order_placed', { total: 3 });
  // The next order would be the second one.
  const { now } = await firstRow('vip');
  expect(now).toMatchObject({
    would_fire: true,
    triggers: [
      {
        reason: 'fired',
        at: null,
        is_set: false,
        note: 'if it passes the property filter, which the last one did not',
        would_pass_if: [],
      },
    ],
    only_if: { holds: false },
  });
  clock.advance(MINUTE);
  await happen('order_placed', { total: 100 });
  expect(await firstRow('vip')).toMatchObject({
    fired: true,
    reason: 'fired',
    now: { would_fire: false, triggers: [{ reason: 'already_entered' }] },
  });
});

test.each([
  { event: 'paid', at_least: 2, within: '7d' },
  { event: 'paid', at_least: 2, within: '7d', where: [{ property: 'sum', at_least: 10 }] },
  { event: 'paid', sum: 'sum', at_least: 20, within: '7d' },
  { event: 'paid', exactly: 2 },
])('counts the expected event for the condition as well: %j', async (condition) => {
  const document = {
    name: 'payer',
    when: { event: 'paid' },
    only_if: condition,
    steps: [{ draft: { subject: 'Thank you', body: 'Hello' } }],
  };
  await createRule(db, { projectId, document });
  await know({});
  await happen('paid', { sum: 10 });
  expect(await firstRow('payer')).toMatchObject({ reason: 'only_if', now: { would_fire: true } });
  clock.advance(MINUTE);
  await happen('paid', { sum: 10 });
  expect(await firstRow('payer')).toMatchObject({ reason: 'fired', now: { would_fire: false } });
});

test('shows what a rule waits for before its first trigger, and the rule fires when that arrives', async () => {
  await know({});
  expect(await firstRow('welcome')).toMatchObject({
    fired: false,
    reason: 'not_considered',
    key: null,
    count: 0,
    detail: {
      evaluated_now: true,
      would_fire: true,
      triggers: [{ waits_for: 'when user_signed_up happens', last_seen_at: null, would_fire: true }],
    },
  });
  await happen('user_signed_up');
  expect(await firstRow('welcome')).toMatchObject({ fired: true });
});

test('shows a pending timer with its time and the decision expected then', async () => {
  await know({});
  const at = new Date(clock.now() + 3 * DAY).toISOString();
  await happen('user_signed_up');
  expect((await firstRow('onboarding_stall')).now?.triggers).toMatchObject([
    { would_fire: true, reason: 'fired', at, is_set: true },
  ]);
  await happen('feature_used');
  expect((await firstRow('onboarding_stall')).now?.triggers).toMatchObject([
    { would_fire: false, reason: 'not_absent', at, is_set: true, detail: { event: 'feature_used' } },
  ]);
});

test('evaluates a timer by the rule version that set it', async () => {
  const document = { name: 'later', when: { relative_to: { event: 'paid' }, after: '2d' }, steps: VIP.steps };
  await createRule(db, { projectId, document });
  await know({});
  const at = new Date(clock.now() + 2 * DAY).toISOString();
  await happen('paid');
  const changed = { ...document, when: { event: 'refunded' } };
  const edit = { projectId, reference: 'later', document: changed, includeOpen: false, actor: 'operator' };
  await editRule(db, edit);
  const waits_for = '2 days after paid';
  expect((await firstRow('later')).now?.triggers).toMatchObject([
    { waits_for, at, is_set: true, reason: 'fired', note: 'by version 1, which set the timer' },
    { waits_for: 'when refunded happens', at: null, is_set: false, reason: 'fired' },
  ]);
  await engine.advance(2 * DAY);
  expect(await why('later')).toEqual(expect.arrayContaining([expect.objectContaining({ at, fired: true })]));
});

test('shows that a live event can start the rules of an imported user that have no entry yet', async () => {
  await know({});
  const records = [{ external_user_id: 'u1', name: 'user_signed_up', properties: {}, suppress: true }];
  await putRecords(db, { projectId, priority: 'bulk', kind: 'events', records });
  await engine.settle();
  const [welcome, upsell] = [await firstRow('welcome'), await firstRow('plan_limit_upsell')];
  expect(welcome).toMatchObject({ reason: 'suppressed', now: { triggers: [{ reason: 'already_entered' }] } });
  expect(upsell.now).toMatchObject({ would_fire: true });
  await happen('usage_threshold_reached', { usagePercent: 90, meter: 'seats' });
  expect(await firstRow('plan_limit_upsell')).toMatchObject({ fired: true });
});

test('shows when the reminder of a running trial is due, and that a subscription supersedes it', async () => {
  await know({});
  await happen('trial_started', { trialDays: 14 });
  const at = new Date(clock.now() + 11 * DAY).toISOString();
  expect((await firstRow('trial_expiring')).now?.triggers[0]).toMatchObject({
    at,
    is_set: true,
    reason: 'fired',
  });
  await happen('subscription_started');
  const [relative] = (await firstRow('trial_expiring')).now?.triggers ?? [];
  expect(relative).toMatchObject({ at, is_set: true, reason: 'superseded' });
});

test('shows the send check that holds an open draft, and until when', async () => {
  await know({ timezone: 'Europe/Paris' });
  await happen('user_signed_up');
  await setSettings(db, projectId, { quiet_hours: '00:00-23:59' });
  await engine.advance(2 * HOUR);
  const { drafts } = await firstRow('welcome');
  expect(drafts).toMatchObject([
    {
      state: 'held',
      reason: 'quiet_hours',
      rule_holds: true,
      send_check: { reason: 'quiet_hours', detail: { time_zone: 'Europe/Paris' } },
    },
  ]);
  expect(drafts[0]?.send_check?.until).toBe(drafts[0]?.due_at);
  await setSettings(db, projectId, { quiet_hours: 'off', paused: 'true' });
  expect((await firstRow('welcome')).drafts[0]?.send_check).toMatchObject({ reason: 'paused', until: null });
  await setSettings(db, projectId, { paused: 'false' });
  expect((await firstRow('welcome')).drafts[0]?.send_check).toBe(null);
});

test('reports that a rule is off, and changes nothing', async () => {
  await know({});
  await disableRule(db, { projectId, reference: 'welcome', actor: 'operator' });
  expect(await firstRow('welcome')).toMatchObject({
    reason: 'rule_off',
    now: { on: false, would_fire: false },
  });
  const rows = (): Promise<object[]> =>
    db.query(`SELECT count(*) AS decisions FROM beckon.decision WHERE project_id = $1`, [projectId]);
  const before = await rows();
  await why();
  expect(await rows()).toEqual(before);
});

test('returns not_found for an unknown rule or user', async () => {
  await expect(why('nothing')).rejects.toMatchObject({ code: 'not_found' });
  await expect(why()).rejects.toMatchObject({ code: 'not_found' });
});

test('shows for a date trigger what the engine would decide if the trait were set now', async () => {
  const at = (days: number): string => new Date(clock.now() + days * DAY).toISOString();
  await know({ renewalDate: at(3), signupDate: at(-800) });
  const steps = [{ draft: { subject: 'Soon', body: 'Hello' } }];
  const renewal = { relative_to: { trait: 'renewalDate' }, before: '7d' };
  const year = { relative_to: { trait: 'signupDate' }, after: '365d' };
  await createRule(db, { projectId, document: { name: 'renewal', when: renewal, steps } });
  await createRule(db, { projectId, document: { name: 'year', when: year, steps } });
  const triggersOf = async (rule: string): Promise<unknown> => (await firstRow(rule)).now?.triggers;
  expect(await triggersOf('renewal')).toMatchObject([{ would_fire: true, reason: 'fired', at: null }]);
  expect(await triggersOf('year')).toMatchObject([{ would_fire: false, reason: 'too_old' }]);
  await know({ renewalDate: at(2), signupDate: at(-801) });
  expect((await firstRow('renewal')).reason).toBe('fired');
  expect((await firstRow('year')).reason).toBe('too_old');
});
