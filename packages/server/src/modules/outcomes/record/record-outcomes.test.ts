import fc from 'fast-check';
import type { WebhookEvent } from '@beckon/contract';
import { beforeEach, expect, test } from 'vitest';
import {
  type OutcomeScenario,
  bounced,
  CLICKED,
  COMPLAINED,
  emailsRule,
  BOT_OPENED,
  newOutcomeScenario,
  ONE_CLICK,
  OPENED,
  REPLIED,
  sendTo,
} from '../../../../testing/factories/email-outcomes.ts';
import { testHasher } from '../../../../testing/factories/send-services.ts';
import { MINUTE } from '../../../../testing/factories/drafts.ts';
import { DAY, openStage } from '../../../../testing/scenario.ts';
import { idMaker } from '../../../platform/ids.ts';
import { silentLog } from '../../../platform/log.ts';
import type { ReportedOutcome, OutcomeData } from '../outcome.ts';
import { addSuppression } from '../suppressions/store.ts';
import { erasePerson } from '../../profiles/erase-user.ts';
import { recordOutcomes } from './record-outcomes.ts';
import { listRuleNeeds } from '../../rules/runs/rules-in-force.ts';

const stage = await openStage();
const { db } = stage.server;
const newId = idMaker(db.clock);
beforeEach(() => stage.engine.transport.setResult({ result: 'sent' }));

async function withEmail(rule: object = emailsRule(), users = ['ada']): Promise<OutcomeScenario> {
  const scenario = await newOutcomeScenario(stage);
  await scenario.rule(rule);
  await sendTo(scenario, users);
  return scenario;
}

const eventsOf = (scenario: OutcomeScenario, userId: string) =>
  db.query<{ name: string; properties: unknown; suppressed: boolean | null }>(
    `SELECT name, properties, suppressed FROM beckon.event
     WHERE project_id = $1 AND external_user_id = $2 AND name LIKE 'email.%' ORDER BY seq`,
    [scenario.projectId, userId],
  );

test('builds the webhook of every outcome as the contract defines it', async () => {
  const scenario = await withEmail();
  const [message] = await scenario.messages('ada');
  const at = scenario.now();
  await scenario.recordOutcome('ada', CLICKED);
  const [hook] = await scenario.webhooks();
  const event = JSON.parse(hook?.body ?? '') as WebhookEvent<'email.clicked'>;
  expect(event).toEqual({
    id: `msg_${hook?.id}`,
    type: 'email.clicked',
    timestamp: new Date(at).toISOString(),
    livemode: true,
    data: {
      external_user_id: 'ada',
      email_id: message?.id,
      draft_id: message?.draft_id,
      rule: 'Emails',
      occurred_at: new Date(at).toISOString(),
      bot: 'no',
      bot_reason: null,
      url: 'https://acme.example/start',
    },
  });
  await scenario.recordOutcome('ada', REPLIED, bounced('soft'), COMPLAINED);
  const data = new Map(
    (await scenario.webhooks()).map(({ type, body }) => [type, (JSON.parse(body) as WebhookEvent).data]),
  );
  const bounce = { status: '4.2.2', reason: 'no such user here', source: 'dsn' };
  expect(data.get('email.replied')).toMatchObject({ snippet: 'Thanks!', auto_reply: false });
  expect(data.get('email.bounced')).toMatchObject({ bounce_class: 'soft', ...bounce });
  expect(data.get('email.unsubscribed')).toMatchObject({ method: 'complaint' });
});

test('keeps a webhook body below 20 kB and its texts within their limits, whatever an email contains', async () => {
  const scenario = await withEmail(emailsRule({ name: 'R'.repeat(100) }));
  const long = `\0\ud800${'\u0001€"'.repeat(20_000)}`;
  await scenario.recordOutcome('ada', { ...REPLIED, snippet: long } as OutcomeData);
  await scenario.recordOutcome('ada', { ...bounced('policy'), reason: long, status: long } as OutcomeData);
  await scenario.recordOutcome('ada', {
    ...CLICKED,
    url: `https://x.org/${'ü'.repeat(50_000)}`,
    botReason: long,
  } as OutcomeData);
  const hooks = await scenario.webhooks();
  expect(hooks).toHaveLength(3);
  for (const { body } of hooks) expect(Buffer.byteLength(body)).toBeLessThan(20_000);
  const replied = hooks.find(({ type }) => type === 'email.replied');
  const { data } = JSON.parse(replied?.body ?? '') as WebhookEvent<'email.replied'>;
  expect(Array.from(data.snippet)).toHaveLength(500);
});

test('writes an outcome once, with one webhook and one event, when several processes report it repeatedly', async () => {
  const scenario = await withEmail();
  const [message] = await scenario.messages('ada');
  const { projectId } = scenario;
  const all: OutcomeData[] = [OPENED, BOT_OPENED, CLICKED, REPLIED, bounced('soft'), ONE_CLICK, COMPLAINED];
  const happened = all.map(
    (what) => ({ ...what, projectId, emailId: message?.id, occurredAt: scenario.now() }) as ReportedOutcome,
  );
  const deps = { db, newId, log: silentLog };
  const writers = Array.from({ length: 6 }, () => recordOutcomes(deps, [...happened, ...happened]));
  const recorded = (await Promise.all(writers)).flat();
  expect(recorded.map(({ type, class: kind }) => `${type} ${kind}`).toSorted()).toEqual(
    [...new Set(recorded.map(({ type, class: kind }) => `${type} ${kind}`))].toSorted(),
  );
  expect(recorded).toHaveLength(all.length);
  expect(await scenario.webhooks()).toHaveLength(all.length);
  await scenario.later(MINUTE);
  expect((await eventsOf(scenario, 'ada')).map(({ name }) => name).toSorted()).toEqual([
    'email.bounced',
    'email.clicked',
    'email.opened',
    'email.replied',
    'email.unsubscribed',
    'email.unsubscribed',
  ]);
});

test.each([
  ['the webhook', 'webhook'],
  ['the delivery of the webhook', 'webhook_delivery'],
  ['the event', 'ingest_queue'],
  ['the suppression', 'suppression'],
])('writes an outcome with all its effects or not at all: %s fails', async (_, table) => {
  const scenario = await withEmail(emailsRule({}, 2));
  await db.query(
    `INSERT INTO beckon.webhook_endpoint (project_id, id, url, created_at, per_second, in_flight_max)
     VALUES ($1, $2, 'https://x.org', now(), 10, 10)`,
    [scenario.projectId, newId()],
  );
  await db.query(
    `ALTER TABLE beckon.${table} ADD CONSTRAINT broken CHECK (project_id <> ${scenario.projectId}) NOT VALID`,
  );
  await expect(scenario.recordOutcome('ada', ONE_CLICK)).rejects.toMatchObject({ code: '23514' });
  await db.query(`ALTER TABLE beckon.${table} DROP CONSTRAINT broken`);
  expect(await scenario.outcomes()).toEqual([]);
  expect(await scenario.suppressed()).toEqual([]);
  expect((await scenario.runs('ada', 'Emails'))[0]?.state).toBe('active');
  await scenario.recordOutcome('ada', ONE_CLICK);
  expect(await scenario.outcomes()).toEqual(['unsubscribed']);
  expect(
    await db.query('SELECT state FROM beckon.webhook_delivery WHERE project_id = $1', [scenario.projectId]),
  ).toEqual([{ state: 'pending' }]);
});

test('ignores outcomes of emails that do not exist or whose user was erased', async () => {
  const scenario = await withEmail();
  const [message] = await scenario.messages('ada');
  await erasePerson({ db, newId, hasher: testHasher }, { projectId: scenario.projectId, userId: 'ada' });
  const at = { emailId: message?.id ?? '', occurredAt: scenario.now() };
  expect(
    await scenario.record([
      { ...at, ...OPENED },
      { ...at, ...ONE_CLICK },
    ] as never),
  ).toEqual([]);
  expect(await scenario.record([{ ...at, ...OPENED, emailId: newId() }] as never)).toEqual([]);
  expect(await scenario.webhooks()).toEqual([]);
  expect(await scenario.suppressed()).toEqual([]);
});

test('creates no user from an outcome in the ingest queue when the user is erased', async () => {
  const scenario = await withEmail();
  await scenario.recordOutcome('ada', OPENED);
  await erasePerson({ db, newId, hasher: testHasher }, { projectId: scenario.projectId, userId: 'ada' });
  // As for a dead-lettered record that is queued again.
  await db.query('UPDATE beckon.ingest_queue SET seq = seq + 1000 WHERE project_id = $1', [
    scenario.projectId,
  ]);
  await db.query('UPDATE beckon.ingest_queue_state SET next_seq = next_seq + 1001 WHERE project_id = $1', [
    scenario.projectId,
  ]);
  await scenario.later(MINUTE);
  expect(await db.query('SELECT 1 FROM beckon.person WHERE project_id = $1', [scenario.projectId])).toEqual(
    [],
  );
  expect(await eventsOf(scenario, 'ada')).toEqual([]);
});

test('records at most 100 replies to an email as outcomes', async () => {
  const scenario = await withEmail();
  const [message] = await scenario.messages('ada');
  const replies = Array.from({ length: 130 }, (_, n) => ({
    emailId: message?.id ?? '',
    occurredAt: scenario.now(),
    type: 'email.replied' as const,
    inboundId: `<${n}@x.org>`,
    snippet: 'Again',
  }));
  expect(await scenario.record(replies.slice(0, 60))).toHaveLength(60);
  expect(await scenario.record(replies)).toHaveLength(40);
  expect(await scenario.record(replies)).toHaveLength(0);
});

test('stores a bounce forged from a Message-ID, without effects and without blocking the real one', async () => {
  const scenario = await withEmail(emailsRule({}, 2));
  await scenario.recordOutcome('ada', bounced('hard', false));
  expect(await scenario.suppressed()).toEqual([]);
  expect((await scenario.runs('ada', 'Emails'))[0]?.state).toBe('active');
  await scenario.later(MINUTE);
  expect(await eventsOf(scenario, 'ada')).toEqual([]);
  expect(await scenario.webhooks()).toEqual([]);
  await scenario.recordOutcome('ada', bounced('hard'));
  expect((await scenario.webhooks()).map(({ type }) => type)).toEqual(['email.bounced']);
  expect(await scenario.outcomes()).toEqual(['bounced unverified', 'bounced']);
  expect(await scenario.suppressed()).toEqual(['email ada@x.org: hard_bounce']);
});

test('starts rules on human engagement, and not on bot activity', async () => {
  const scenario = await newOutcomeScenario(stage);
  await scenario.rule(emailsRule());
  await scenario.rule({
    name: 'Clicked',
    when: { event: 'email.clicked', where: [{ property: 'rule', equals: 'Emails' }] },
    mode: 'autopilot',
    steps: [{ draft: { subject: 'You clicked', body: 'Hello.' } }],
  });
  await sendTo(scenario, ['ada', 'bot']);
  await scenario.recordOutcome('bot', { ...CLICKED, bot: 'yes', botReason: 'scanner' } as OutcomeData);
  await scenario.recordOutcome('bot', { ...CLICKED, bot: 'probable', botReason: 'too_soon' } as OutcomeData);
  await scenario.recordOutcome('ada', CLICKED);
  await scenario.later(DAY);
  const subjects = (await scenario.emails()).filter(({ rule }) => rule === 'Clicked').map(({ to }) => to);
  expect(subjects).toEqual(['ada']);
  const [message] = await scenario.messages('ada');
  expect(await eventsOf(scenario, 'ada')).toEqual([
    {
      name: 'email.clicked',
      properties: { email_id: message?.id, rule: 'Emails', url: 'https://acme.example/start' },
      suppressed: null,
    },
  ]);
  expect((await scenario.outcomes('bot')).toSorted()).toEqual(['clicked probable', 'clicked yes']);
});

test('adds an engaged user to an audience, and removes them when the time window is over', async () => {
  const scenario = await withEmail(emailsRule(), ['ada', 'bob']);
  await scenario.post('users', { external_user_id: 'zed' });
  const { createAudience } = await import('../../audiences/change-audience.ts');
  await createAudience(
    { db, listRuleNeeds },
    {
      projectId: scenario.projectId,
      name: 'Engaged',
      definition: {
        any: ['opened', 'clicked', 'replied'].map((what) => ({
          event: `email.${what}`,
          at_least: 1,
          within: '30d',
        })),
      },
    },
  );
  await scenario.later(MINUTE);
  const members = async () =>
    (
      await db.query<{ id: string }>(
        'SELECT external_user_id AS id FROM beckon.audience_member WHERE project_id = $1 ORDER BY 1',
        [scenario.projectId],
      )
    ).map(({ id }) => id);
  await scenario.recordOutcome('bob', BOT_OPENED);
  await scenario.recordOutcome('ada', OPENED);
  await scenario.later(MINUTE);
  expect(await members()).toEqual(['ada']);
  await scenario.later(31 * DAY);
  expect(await members()).toEqual([]);
});

test('moves neither half of the watermark, and starts no rule below it', async () => {
  const scenario = await newOutcomeScenario(stage);
  await scenario.rule(emailsRule());
  await scenario.rule({ ...emailsRule(), name: 'Opened', when: { event: 'email.opened' } });
  await sendTo(scenario, ['ada']);
  const mark = async () =>
    db.query(
      'SELECT suppressed_seq, normal_seq, triggers_live_since, last_seen_at FROM beckon.person WHERE project_id = $1',
      [scenario.projectId],
    );
  const past = { external_user_id: 'ada', name: 'import', properties: {} };
  await scenario.post('events/batch', { events: [past], suppressTriggers: true });
  await scenario.later(MINUTE);
  const before = await mark();
  expect(before[0]).toMatchObject({ suppressed_seq: expect.any(Number) });
  await scenario.recordOutcome('ada', OPENED);
  await scenario.later(DAY);
  expect(await mark()).toEqual(before);
  expect(await eventsOf(scenario, 'ada')).toHaveLength(1);
  expect(await scenario.why('ada', 'Opened')).toEqual({ suppressed: 1 });
});

test('does not accept a record from outside as an outcome', async () => {
  const scenario = await newOutcomeScenario(stage);
  await scenario.post('events', {
    external_user_id: 'eve',
    name: 'email.opened',
    properties: {},
    own: newId(),
  });
  await scenario.later(MINUTE);
  expect(await eventsOf(scenario, 'eve')).toMatchObject([{ name: 'email.opened', suppressed: false }]);
  expect(await scenario.outcomes()).toEqual([]);
});

test('writes each of more than 1,000 outcomes once', async () => {
  const scenario = await withEmail(emailsRule(), ['ada', 'bob', 'cyd']);
  const messages = await scenario.messages();
  const happened = messages.flatMap(({ id: emailId }) =>
    Array.from({ length: 400 }, (_, link) => ({ ...CLICKED, link, emailId, occurredAt: scenario.now() })),
  );
  expect(await scenario.record(happened as never)).toHaveLength(1_200);
  expect(await scenario.webhooks()).toHaveLength(1_200);
  await scenario.later(MINUTE);
  expect(await eventsOf(scenario, 'bob')).toHaveLength(400);
});

test('writes the same outcomes and suppressions in whatever order and however often they are reported', async () => {
  const what: OutcomeData[] = [
    OPENED,
    BOT_OPENED,
    CLICKED,
    REPLIED,
    bounced('hard'),
    bounced('soft', false),
    ONE_CLICK,
    { type: 'email.unsubscribed', method: 'link' },
    COMPLAINED,
  ];
  const histories = fc.array(
    fc.record({ user: fc.constantFrom('ada', 'bob'), what: fc.constantFrom(...what) }),
    {
      minLength: 1,
      maxLength: 8,
    },
  );
  await fc.assert(
    fc.asyncProperty(histories, async (acts) => {
      const scenario = await withEmail(emailsRule(), ['ada', 'bob']);
      const model = newModel();
      for (const { user, what: data } of acts) {
        await scenario.recordOutcome(user, data);
        applyToModel(model, user, data);
      }
      for (const user of ['ada', 'bob'])
        expect((await scenario.outcomes(user)).toSorted()).toEqual(
          [...(model.written.get(user) ?? [])].toSorted(),
        );
      expect(await scenario.suppressed()).toEqual(
        [...model.suppressed].map(([target, reason]) => `${target}: ${reason}`).toSorted(),
      );
    }),
    { numRuns: 12 },
  );
});

/** A minimal model of the rules for outcomes and suppressions. */
type Model = { written: Map<string, Set<string>>; suppressed: Map<string, string> };

function newModel(): Model {
  return { written: new Map(), suppressed: new Map() };
}

function applyToModel({ written, suppressed }: Model, user: string, what: OutcomeData): void {
  const keys = written.get(user) ?? new Set<string>();
  const isNew = !keys.has(keyOf(what));
  written.set(user, keys.add(keyOf(what)));
  if (what.type === 'email.unsubscribed') return unsubscribe(suppressed, user, what.method);
  const address = `email ${user}@x.org`;
  const isBounced = suppressed.get(address) === 'hard_bounce';
  if (isBounced && (isEngaged(what) || (isNew && what.type === 'email.replied'))) suppressed.delete(address);
  if (isNew && isCertainBounce(what) && !suppressed.has(address)) suppressed.set(address, 'hard_bounce');
}

function unsubscribe(suppressed: Model['suppressed'], user: string, method: string): void {
  const reason = method === 'complaint' ? 'complained' : 'unsubscribed';
  for (const target of [`email ${user}@x.org`, `user ${user}`])
    if ((suppressed.get(target) ?? 'hard_bounce') === 'hard_bounce') suppressed.set(target, reason);
}

function isEngaged(what: OutcomeData): boolean {
  return 'bot' in what && what.bot === 'no';
}

function isCertainBounce(what: OutcomeData): boolean {
  return what.type === 'email.bounced' && what.verified;
}

function keyOf(what: OutcomeData): string {
  const type = what.type.slice(6);
  switch (what.type) {
    case 'email.opened':
    case 'email.clicked':
      return `${type} ${what.bot}`;
    case 'email.replied':
      return `${type} ${what.inboundId}`;
    case 'email.bounced':
      return what.verified ? type : `${type} unverified`;
    case 'email.unsubscribed':
      return what.method === 'complaint' ? `${type} complaint` : type;
    default:
      return what satisfies never;
  }
}

test('does not lift a manual suppression after an open', async () => {
  const scenario = await withEmail();
  const why = { reason: 'manual', until: null, createdAt: scenario.now(), createdBy: 'ann' } as const;
  await addSuppression(db, { projectId: scenario.projectId, kind: 'email', value: 'ada@x.org', ...why });
  await scenario.recordOutcome('ada', OPENED);
  expect(await scenario.suppressed()).toEqual(['email ada@x.org: manual']);
});

test('keeps a manual suppression until its end when an open lifts a bounce suppression of the same address', async () => {
  const scenario = await withEmail();
  const until = scenario.now() + 30 * DAY;
  const why = { reason: 'manual', until, createdAt: scenario.now(), createdBy: 'ann' } as const;
  await addSuppression(db, { projectId: scenario.projectId, kind: 'email', value: 'ada@x.org', ...why });
  await scenario.recordOutcome('ada', bounced('hard'));
  expect(await scenario.suppressed()).toEqual(['email ada@x.org: hard_bounce']);
  await scenario.recordOutcome('ada', OPENED);
  expect(await scenario.suppressed()).toEqual(['email ada@x.org: manual']);
});
