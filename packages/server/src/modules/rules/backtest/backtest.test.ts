import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { openEngine } from '../../../../testing/factories/engine.ts';
import { testRenderer } from '../../../../testing/factories/send-services.ts';
import { putRecords } from '../../../../testing/factories/ingest-queue.ts';
import { createProject } from '../../administration/create-project.ts';
import { createRule } from '../write-rule.ts';
import { setSettings } from '../../administration/set-settings.ts';
import { disableRule } from '../switch-rule.ts';
import { backtest } from './backtest.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let projectId = 0;
beforeEach(async () => {
  clock.advance(40 * DAY);
  projectId = (await createProject(db, { name: 'Acme' })).id;
  for (const reference of ['welcome', 'onboarding_stall', 'plan_limit_upsell', 'trial_expiring'])
    await disableRule(db, { projectId, reference, actor: 'operator' });
  await setSettings(db, projectId, { quiet_hours: 'off' });
  clock.advance(MINUTE);
});

type Sent = { user?: string; properties?: object; suppress?: true; occurred_at?: string };
let sent = 0;
async function happen(name: string, { user = 'u1', properties = {}, ...more }: Sent = {}): Promise<void> {
  const record = { external_user_id: user, name, properties, message_id: `m${(sent += 1)}`, ...more };
  await putRecords(db, { projectId, kind: 'events', records: [record] });
  await engine.settle();
}
async function know(user: string, traits: object = {}): Promise<void> {
  const records = [{ external_user_id: user, email: `${user}@example.org`, traits }];
  await putRecords(db, { projectId, kind: 'users', records });
  await engine.settle();
}
const EMAIL = {
  draft: { subject: 'Hello {{ user.name | default: "there" }}', body: 'About {{ event.name }}' },
};
const rule = (more: object): object => ({ name: 'tested', steps: [EMAIL], ...more });
const run = (document: object, sinceMs = 30 * DAY) =>
  backtest({ db, renderer: testRenderer }, { projectId, sinceMs, rule: { document } });

/** Returns a random source that gives the same numbers in each run. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * sides);
  };
}

const RULES: [string, object][] = [
  ['once ever', { when: { event: 'ordered', where: [{ property: 'total', at_least: 50 }] } }],
  ['once per key', { when: { event: 'ordered' }, enrollment: { once_per: ['shop'] } }],
  [
    'in a cooldown, and again',
    {
      when: { event: 'ordered' },
      enrollment: { cooldown: '2d', per: ['shop'], again: { property: 'total', at_least: 80 } },
    },
  ],
  [
    'one at a time, while the draft waits',
    { when: { event: 'ordered' }, enrollment: 'one_at_a_time', exits: { events: ['canceled'] } },
  ],
  [
    'after an absence',
    {
      when: { absence_of: ['visited'], since: { event: 'ordered' }, for: '30h' },
      enrollment: { cooldown: '2d' },
    },
  ],
  [
    'before an end, about one thing',
    {
      when: { relative_to: { event: 'ordered', plus_days: 'days' }, before: '1d' },
      about: { event: 'ordered', until: ['canceled'] },
      enrollment: { once_per: 'about' },
    },
  ],
  ['after an event', { when: { relative_to: { event: 'ordered' }, after: '20h' } }],
  [
    'after an event, for each key',
    { when: { relative_to: { event: 'ordered' }, after: '20h' }, enrollment: { once_per: ['shop'] } },
  ],
  [
    'on a condition on events, as they were then',
    {
      when: { event: 'visited' },
      only_if: {
        any: [
          { event: 'ordered', at_least: 2, within: '2d' },
          {
            all: [
              { event: 'canceled' },
              { not: { event: 'ordered', sum: 'total', at_least: 60, within: '1d' } },
            ],
          },
          { event: 'ordered', at_least: 2, within: '9d', where: [{ property: 'shop', equals: 'a' }] },
        ],
      },
      enrollment: { cooldown: '12h' },
    },
  ],
  ['old events', { when: { event: 'ordered' }, max_event_age: '1h', enrollment: { cooldown: '12h' } }],
];

test.each(RULES)("finds the engine's own decisions over the same events: %s", async (_name, more) => {
  // A draft held by a send check keeps its run open, and a backtest evaluates no send checks.
  await setSettings(db, projectId, { frequency_cap: 'off' });
  await createRule(db, { projectId, document: rule(more) });
  const roll = dice(7);
  const users = ['u0', 'u1', 'u2', 'u3'];
  for (const user of users) await know(user);
  for (let i = 0; i < 70; i += 1) {
    const name = ['ordered', 'ordered', 'visited', 'canceled'][roll(4)] ?? '';
    const properties = { total: roll(100), shop: ['a', 'b'][roll(2)], days: roll(4) };
    const isLate = roll(5) === 0;
    const occurred_at = new Date(clock.now() - (isLate ? 5 * HOUR : 0)).toISOString();
    const suppress = roll(9) === 0 ? ({ suppress: true } as const) : {};
    await happen(name, { user: users[roll(4)] ?? '', properties, occurred_at, ...suppress });
    await engine.advance(roll(10) * HOUR + roll(60) * MINUTE + 1);
  }
  const found = await backtest(
    { db, renderer: testRenderer },
    { projectId, sinceMs: 30 * DAY, rule: { reference: 'tested' } },
  );
  const runs = await db.query<{ user: string; key: string; at: Date }>(
    `SELECT r.external_user_id AS user, r.key, r.enrolled_at AS at FROM beckon.run r WHERE r.project_id = $1
     ORDER BY r.enrolled_at, r.external_user_id`,
    [projectId],
  );
  const entered = found.enrollments.map(({ external_user_id: user, key, at }) => ({ user, key, at }));
  expect(entered).toEqual(runs.map(({ at, ...one }) => ({ ...one, at: at.toISOString() })));
  expect(entered.length).toBeGreaterThan(1);
  const excluded = await db.query<{ reason: string; count: number }>(
    `SELECT reason, sum(count)::int AS count FROM beckon.decision
     WHERE project_id = $1 AND NOT detail ? 'draft_id' AND reason NOT IN ('fired', 'starts_later') GROUP BY reason ORDER BY reason`,
    [projectId],
  );
  const counted = found.excluded.map(({ reason, count }) => ({ reason, count }));
  expect(counted.toSorted((a, b) => (a.reason < b.reason ? -1 : 1))).toEqual(excluded);
});

test('writes nothing: every table keeps its rows', async () => {
  await know('u1');
  await happen('ordered', { properties: { total: 3 } });
  const count = async (): Promise<object[]> => {
    const tables = await db.query<{ name: string }>(
      `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = 'beckon' AND c.relkind IN ('r', 'p') ORDER BY 1`,
    );
    const rows: object[] = [];
    for (const { name } of tables)
      rows.push({
        name,
        rows: await db.query(`SELECT count(*) AS n, sum(hashtext(t::text)) AS h FROM ${name} t`),
      });
    return rows;
  };
  const before = await count();
  const found = await run(rule({ when: { event: 'ordered' }, only_if: { event: 'ordered', at_least: 1 } }));
  expect(found).toMatchObject({ is_saved: false, enrolled: { users: 1 }, emails: { written: 1 } });
  expect(await count()).toEqual(before);
  expect(before.length).toBeGreaterThan(20);
});

test('uses events from before the time range only for timers that fire within it', async () => {
  await know('u1');
  await happen('ordered');
  clock.advance(36 * HOUR);
  const entered = async (more: object): Promise<unknown> =>
    (await run(rule({ when: more }), DAY)).enrollments.map(({ at }) => at);
  const at = new Date(clock.now() - 6 * HOUR).toISOString();
  expect(await entered({ relative_to: { event: 'ordered' }, after: '30h' })).toEqual([at]);
  expect(await entered({ absence_of: ['visited'], since: { event: 'ordered' }, for: '30h' })).toEqual([at]);
  expect(await entered({ event: 'ordered' })).toEqual([]);
  expect(await entered({ relative_to: { event: 'ordered' }, after: '10h' })).toEqual([]);
  const later = await run(rule({ when: { relative_to: { event: 'ordered' }, after: '48h' } }), DAY);
  expect(later).toMatchObject({ enrollments: [], waiting: 1 });
});

test("uses today's dates in users' traits", async () => {
  await know('u1', { renewal: new Date(clock.now() + 2 * DAY).toISOString() });
  await know('u2', { renewal: 'soon' });
  clock.advance(DAY + HOUR);
  const found = await run(rule({ when: { relative_to: { trait: 'renewal' }, before: '24h' } }));
  expect(found.enrollments).toMatchObject([{ external_user_id: 'u1', trigger: 'the date in renewal' }]);
});

test("counts emails per day in the project's time zone, and renders the first ones as samples", async () => {
  await setSettings(db, projectId, { time_zone: 'Pacific/Kiritimati' });
  await know('u1', { name: 'Ada' });
  await happen('ordered');
  await happen('ordered', { user: 'u2' });
  const day = new Date(clock.now() + 14 * HOUR).toISOString().slice(0, 10);
  clock.advance(3 * DAY);
  const steps = [EMAIL, { wait: '1d' }, { draft: { subject: 'Still there?', body: 'Hello' } }];
  const found = await run(rule({ when: { event: 'ordered' }, steps }));
  expect(found.emails).toMatchObject({ written: 4, canceled: 0, without_address: 2 });
  expect(found.emails.per_day[0]).toEqual({ day, emails: 2 });
  expect(found.samples.filter(({ external_user_id: user }) => user === 'u1')).toMatchObject([
    { subject: 'Hello Ada', body: 'About ordered', missing: [] },
    { subject: 'Still there?' },
  ]);
});

test('counts an email whose run ends before its deadline as canceled, and writes none after it', async () => {
  await know('u1');
  await happen('ordered');
  clock.advance(HOUR);
  await happen('canceled');
  clock.advance(9 * DAY);
  const steps = [EMAIL, { wait: '1d' }, EMAIL];
  const exits = { events: ['canceled'] };
  const found = await run(rule({ when: { event: 'ordered' }, exits, steps }));
  expect(found.emails).toMatchObject({ written: 1, canceled: 1 });
});

test('counts emails that a frequency cap would hold, next to emails that were really sent', async () => {
  await createRule(db, { projectId, document: { ...rule({ when: { event: 'paid' } }), name: 'other' } });
  await know('u1');
  await know('u2');
  await happen('ordered', { user: 'u2', properties: { n: 1 } });
  await happen('paid', { user: 'u1' });
  await engine.advance(3 * HOUR);
  await happen('ordered', { user: 'u1', properties: { n: 1 } });
  await happen('ordered', { user: 'u2', properties: { n: 2 } });
  await happen('paid', { user: 'u2' });
  await engine.advance(3 * HOUR);
  const found = await run(rule({ when: { event: 'ordered' }, enrollment: { once_per: ['n'] } }));
  expect(found.emails.written).toBe(3);
  expect(found.frequency_caps).toMatchObject({ held: 2, displaced: 1 });
  const uncounted = await run(
    rule({ when: { event: 'ordered' }, enrollment: { once_per: ['n'] }, counts: false }),
  );
  expect(uncounted.frequency_caps).toMatchObject({ held: 0, displaced: 0 });
});

test('compares with the saved version, and lists added and removed users', async () => {
  const when = (total: object): object =>
    rule({ when: { event: 'ordered', where: [{ property: 'total', ...total }] } });
  await createRule(db, { projectId, document: when({ at_most: 10 }) });
  for (const [user, total] of Object.entries({ u1: 5, u2: 10, u3: 15 }))
    await happen('ordered', { user, properties: { total } });
  const found = await run(when({ at_least: 10 }));
  expect(found.comparison).toEqual({
    version: 1,
    added: { users: 1, external_user_ids: ['u3'] },
    removed: { users: 1, external_user_ids: ['u1'] },
    emails: 0,
    per_day: [{ day: new Date(clock.now()).toISOString().slice(0, 10), emails: 2 }],
  });
  expect((await run({ ...when({ at_least: 10 }), name: 'new' })).comparison).toBe(null);
});

test('rejects a rule that refers to something missing', async () => {
  await expect(run({ name: 'tested' })).rejects.toMatchObject({ code: 'validation_failed' });
  const steps = [{ draft: 'no such template' }];
  await expect(run(rule({ when: { event: 'ordered' }, steps }))).rejects.toMatchObject({
    code: 'validation_failed',
  });
  const missing = backtest(
    { db, renderer: testRenderer },
    { projectId, sinceMs: DAY, rule: { reference: 'nothing' } },
  );
  await expect(missing).rejects.toMatchObject({ code: 'not_found' });
});

test('reports progress, and lets the watcher abort the backtest', async () => {
  await createRule(db, { projectId, document: rule({ when: { event: 'ordered' } }) });
  await happen('ordered');
  const seen: { of: string; evaluated: number; share: number }[] = [];
  const input = {
    projectId,
    sinceMs: DAY,
    rule: { document: rule({ when: { event: 'ordered' }, max_event_age: '2h' }) },
  };
  await backtest(
    { db, renderer: testRenderer },
    { ...input, watch: ({ of, evaluated, share }) => seen.push({ of, evaluated, share }) },
  );
  expect(seen).toEqual([
    { of: 'rule', evaluated: 1, share: 1 },
    { of: 'saved', evaluated: 1, share: 1 },
  ]);
  const ended = backtest(
    { db, renderer: testRenderer },
    {
      ...input,
      watch: () => {
        throw new Error('enough');
      },
    },
  );
  await expect(ended).rejects.toThrow('enough');
  expect((await backtest({ db, renderer: testRenderer }, input)).enrolled.users).toBe(1);
});

test('ends a run that a date started by events after its cause, as the engine does', async () => {
  const document = rule({
    when: { relative_to: { trait: 'renewal' }, before: '24h' },
    exits: { events: ['canceled'] },
    enrollment: { cooldown: '1m' },
  });
  await createRule(db, { projectId, document });
  await know('u1', { renewal: new Date(clock.now() + 2 * DAY).toISOString() });
  await engine.advance(DAY + MINUTE);
  await happen('canceled');
  await engine.advance(2 * DAY);
  const drafts = await db.query(`SELECT state FROM beckon.draft WHERE project_id = $1`, [projectId]);
  expect(drafts).toEqual([{ state: 'canceled' }]);
  expect((await run(document)).emails).toMatchObject({ written: 1, canceled: 1 });
});

test('counts the users and emails of each step, and renders the first emails as HTML', async () => {
  const users = ['u0', 'u1', 'u2'];
  for (const user of users) {
    await know(user);
    await happen('ordered', { user });
  }
  await engine.advance(3 * DAY);
  const steps = [
    EMAIL,
    {
      branch: { if: { trait: 'plan', equals: 'pro' } },
      then: [{ wait: '1d' }, EMAIL],
      else: [{ end: true }],
    },
    EMAIL,
  ];
  const found = await run(rule({ when: { event: 'ordered' }, steps }));
  expect(found.steps).toEqual([
    { path: 'steps.0', users: 3, emails: 3 },
    { path: 'steps.1', users: 3, emails: 0 },
    { path: 'steps.1.then.0', users: 0, emails: 0 },
    { path: 'steps.1.then.1', users: 0, emails: 0 },
    { path: 'steps.1.else.0', users: 3, emails: 0 },
    { path: 'steps.2', users: 0, emails: 0 },
  ]);
  expect(found.samples[0]?.html).toMatch(/<html[^]*About ordered/);
});
