import { beforeEach, expect, test } from 'vitest';
import { testHasher } from '../../../testing/factories/send-services.ts';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { idMaker } from '../../platform/ids.ts';
import { silentLog } from '../../platform/log.ts';
import { listBuilding } from '../audiences/build-version.ts';
import { deadLetterRecord } from '../ingest/queue/dead-letters.ts';
import { listDrafts } from '../drafts/reads.ts';
import { addHits } from '../inbound/tracking/tracker.ts';
import { keepMail } from '../review/test-inbox/keep-mail.ts';
import { insertEmails as claimEmails } from '../sending/emails/store.ts';
import { addSuppression } from '../outcomes/suppressions/store.ts';
import { createAudience, editAudience } from '../audiences/change-audience.ts';
import { createProject } from '../administration/create-project.ts';
import { createProcessor } from '../processing/process.ts';
import { exportPerson } from '../profiles/export-user.ts';
import { recordOutcomes } from '../outcomes/record/record-outcomes.ts';
import { showPerson } from './show-person.ts';
import { listRuleNeeds } from '../rules/runs/rules-in-force.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const processor = createProcessor({ db, log: silentLog, newId: idMaker(db.clock), hasher: testHasher });

let projectId = 0;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
});

async function accept(kind: 'users' | 'events', records: object[]): Promise<void> {
  await putRecords(db, { projectId, kind, records });
  while ((await processor.batch('live', [projectId])).records > 0);
}

async function build(
  name: string,
  definition: object,
  upTo: 'served' | 'went on' = 'served',
): Promise<string> {
  const { id } = await createAudience({ db, listRuleNeeds }, { projectId, name, definition });
  for (const key of await listBuilding(db, 10)) while ((await processor.build(key)) !== upTo);
  return id;
}

const now = (): string => new Date(clock.now()).toISOString();
const show = (userId = 'ada') => showPerson(db, { projectId, userId });
const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;

async function exported(userId = 'ada'): Promise<{ pieces: string[]; value: Record<string, unknown> }> {
  const pieces = await Array.fromAsync(exportPerson(db, { projectId, userId }));
  return { pieces, value: JSON.parse(pieces.join('\n')) as Record<string, unknown> };
}

test('shows a user with audiences and events, with exactly the names of the API', async () => {
  const first = now();
  await accept('users', [
    {
      external_user_id: 'ada',
      email: 'Ada@x.org',
      traits: {
        name: 'Ada',
        signupDate: '2026-01-02',
        company: { id: 1 },
        seats: 3,
        ['__proto__']: { a: 1 },
      },
    },
  ]);
  const paying = await build('With a company', { trait: 'seats', at_least: 1 });
  await build('Others', { trait: 'seats', at_least: 9 });
  clock.advance(1_000);
  await accept('events', [
    { external_user_id: 'ada', name: 'login', properties: { n: 1 }, occurred_at: '2026-01-10T00:00:00.000Z' },
    { external_user_id: 'ada', name: 'login', properties: { n: 2 } },
  ]);
  const event = { id: UUID, name: 'login', accepted_at: now(), received_at: now() };
  const detail = await show();
  expect(detail).toEqual({
    external_user_id: 'ada',
    email: 'Ada@x.org',
    traits: JSON.parse(
      '{"name":"Ada","signupDate":"2026-01-02","company":{"id":1},"seats":3,"__proto__":{"a":1}}',
    ) as object,
    suppressTriggersUntil: null,
    triggersLiveSince: null,
    // The earliest known time, including events that were sent later.
    first_seen_at: '2026-01-10T00:00:00.000Z',
    last_seen_at: expect.any(String) as string,
    audiences: [{ id: paying, name: 'With a company', since: first }],
    events: [
      { ...event, properties: { n: 2 }, occurred_at: now() },
      { ...event, properties: { n: 1 }, occurred_at: '2026-01-10T00:00:00.000Z' },
    ],
    drafts: [],
    decisions: [],
    runs: [],
    outcomes: [],
  });
  expect(Object.hasOwn(detail.traits, '__proto__')).toBe(true);
});

test('shows a suppressed user as suppressed without end, and as live since the event that lifted it', async () => {
  await accept('events', [{ external_user_id: 'ada', name: 'login', properties: {}, suppress: true }]);
  expect(await show()).toMatchObject({
    suppressTriggersUntil: '9999-12-31T23:59:59.999Z',
    triggersLiveSince: null,
  });
  clock.advance(1_000);
  await accept('events', [{ external_user_id: 'ada', name: 'login', properties: {} }]);
  expect(await show()).toMatchObject({ suppressTriggersUntil: null, triggersLiveSince: now() });
});

test('shows an audience while it is first built, and by its old definition while it is rebuilt', async () => {
  const people = Array.from({ length: 501 }, (_, i) => ({ external_user_id: `p${i}`, traits: { seats: i } }));
  await accept('users', [{ external_user_id: 'ada', traits: { seats: 0 } }, ...people.slice(0, 400)]);
  await accept('users', people.slice(400));
  const id = await build('Small', { trait: 'seats', at_most: 0 }, 'went on');
  const seen = { id, name: 'Small', since: now() };
  expect((await show()).audiences).toEqual([seen]);
  for (const key of await listBuilding(db, 1)) while ((await processor.build(key)) !== 'served');
  clock.advance(1_000);
  await editAudience(
    { db, listRuleNeeds },
    { projectId, reference: id, definition: { trait: 'seats', at_most: 1 } },
  );
  for (const key of await listBuilding(db, 1)) await processor.build(key);
  const rows = await db.query(
    `SELECT 1 FROM beckon.audience_member WHERE project_id = $1 AND external_user_id = 'ada'`,
    [projectId],
  );
  expect(rows).toHaveLength(2);
  expect((await show()).audiences).toEqual([seen]);
});

test('returns not_found for an unknown or impossible id, also for an export', async () => {
  for (const userId of ['ada', 'nul\0', 'half\ud800', '']) {
    await expect(show(userId)).rejects.toMatchObject({ code: 'not_found' });
    await expect(exported(userId)).rejects.toMatchObject({ code: 'not_found' });
  }
});

test('shows the newest 1,000 events, and exports all of them as one JSON value in pieces', async () => {
  await accept('users', [{ external_user_id: 'ada' }]);
  await db.query(
    `INSERT INTO beckon.event (project_id, received_at, id, external_user_id, name, properties, occurred_at, accepted_at, seq, suppressed)
     SELECT $1, $2, gen_random_uuid(), 'ada', CASE WHEN n % 2 = 0 THEN 'a' ELSE 'b' END, jsonb_build_object('n', n, 'text', '"],[' ),
            $2::timestamptz - CASE WHEN n < 700 THEN 0 ELSE n END * interval '1 second', $2, n, false
     FROM generate_series(1, 1500) AS n`,
    [projectId, new Date(clock.now())],
  );
  const { events } = await show();
  expect(events).toHaveLength(1_000);
  expect(events.at(-1)?.properties['n']).toBe(1_000);
  const { pieces, value } = await exported();
  const numbers = (value['events'] as typeof events).map(({ properties }) => properties['n'] as number);
  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 1_500 }, (_, i) => i + 1));
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(100_000);
  // Without anything between the pieces, the value is the same.
  expect(JSON.parse(pieces.join(''))).toEqual(value);
});

test('exports everything that is shown, the change stream and dead-lettered records', async () => {
  await accept('users', [
    { external_user_id: 'ada', email: 'a@x.org', traits: { plan: 'free' } },
    { external_user_id: 'bob' },
  ]);
  clock.advance(1_000);
  await accept('users', [{ external_user_id: 'ada', traits: { plan: 'pro' } }]);
  const at = new Date(clock.now());
  for (const [seq, userId] of ['ada', 'bob'].entries()) {
    const record = { external_user_id: userId, name: 'odd' };
    await deadLetterRecord(
      db,
      { projectId, priority: 'live', kind: 'events', seq: seq + 1, acceptedAt: at, record },
      { reason: 'bad', at },
    );
  }
  const newId = idMaker(db.clock);
  const email = { mailFrom: 'b+x@acme.org', rcptTo: 'ada@x.org', draftId: newId(), at: clock.now() };
  const raws = Array.from({ length: 12 }, (_, n) => `Subject: Hello ${n}\r\n\r\nGrüße\r\n`);
  for (const raw of raws)
    for (const userId of ['ada', 'bob'])
      await keepMail(db, { ...email, projectId, userId, id: newId(), raw: Buffer.from(raw) });
  const { value } = await exported();
  expect(new Set((value.test_inbox as { raw: string }[]).map(({ raw }) => raw))).toEqual(new Set(raws));
  const kept = { id: UUID, copy: 1, draft_id: email.draftId, to: 'ada@x.org', at: now() };
  const text = expect.any(String) as string;
  expect(value).toEqual({
    ...(await show()),
    suppression: null,
    unsubscribed_topics: [],
    enrollments: [],
    timers: [],
    emails: [],
    test_inbox: raws.map(() => ({ ...kept, subject: text, raw: text })),
    links: [],
    hits: [],
    replies: [],
    webhooks: [],
    changes: [
      {
        at: expect.any(String) as string,
        id: UUID,
        kind: 'user_created',
        audience_id: null,
        detail: { traits: { plan: [null, 'free'] }, email: 'changed' },
      },
      {
        at: now(),
        id: UUID,
        kind: 'user_changed',
        audience_id: null,
        detail: { traits: { plan: ['free', 'pro'] } },
      },
    ],
    dead_letters: [
      {
        seq: 1,
        priority: 'live',
        kind: 'events',
        reason: 'bad',
        accepted_at: now(),
        dead_lettered_at: now(),
        record: { external_user_id: 'ada', name: 'odd' },
      },
    ],
  });
});

test('shows and exports the results of emails: outcomes, replies, hits and webhooks', async () => {
  await accept('users', [{ external_user_id: 'ada', email: 'ada@x.org' }]);
  const newId = idMaker(db.clock);
  const id = newId();
  const email = {
    projectId,
    draftId: newId(),
    ruleId: newId(),
    userId: 'ada',
    counts: true,
    template: null,
    relay: null,
    relayGeneration: null,
  };
  const sent = { claimedAt: clock.now(), leaseUntil: clock.now(), domain: 'acme.example', provider: 'x.org' };
  await claimEmails(db, [{ ...email, ...sent, id, address: 'ada@x.org' }]);
  await db.query(
    `INSERT INTO beckon.tracking_link (project_id, email_id, external_user_id, opens, urls) VALUES ($1, $2, 'ada', true, $3)`,
    [projectId, id, ['https://acme.example']],
  );
  const at = clock.now();
  const hit = { projectId, emailId: id, kind: 'click', link: 0, at, signs: [], agent: 'Firefox' } as const;
  await db.transaction((tx) => addHits(tx, [{ ...hit, remote: '192.0.2.1' }]));
  const happened = { projectId, emailId: id, occurredAt: at };
  const deps = { db, newId, log: silentLog };
  for (let n = 0; n < 250; n += 1) {
    clock.advance(1);
    const link = { link: n, url: `https://acme.example/${n}` };
    await recordOutcomes(deps, [{ ...happened, type: 'email.clicked', bot: 'no', botReason: null, ...link }]);
  }
  const { outcomes } = await show();
  expect(outcomes).toHaveLength(250);
  expect(outcomes[0]).toEqual({
    id: UUID,
    type: 'email.clicked',
    rule: email.ruleId,
    email_id: id,
    draft_id: email.draftId,
    occurred_at: inMs(-250),
    recorded_at: now(),
    detail: { bot: 'no', bot_reason: null, url: 'https://acme.example/249' },
  });
  const { value } = await exported();
  expect(value['outcomes']).toEqual(outcomes);
  expect(value).toMatchObject({
    links: [{ email_id: id, opens: true, urls: ['https://acme.example'], hits: 1 }],
    hits: [{ email_id: id, hits: [{ kind: 'click', link: 0, agent: 'Firefox', remote: '192.0.2.1' }] }],
    replies: [],
  });
  expect(value['webhooks']).toHaveLength(250);
});

test('exports a user who is known only from dead-lettered records', async () => {
  const at = new Date(clock.now());
  const record = { external_user_id: 'ghost', name: 'odd' };
  await deadLetterRecord(
    db,
    { projectId, priority: 'live', kind: 'events', seq: 1, acceptedAt: at, record },
    { reason: 'bad', at },
  );
  expect((await exported('ghost')).value).toMatchObject({
    external_user_id: 'ghost',
    email: null,
    events: [],
    dead_letters: [{ record }],
  });
});

async function getEmails(...ids: string[]): Promise<void> {
  await accept(
    'users',
    ids.map((id) => ({ external_user_id: id, email: `${id}@x.org`, traits: { name: id } })),
  );
  await accept(
    'events',
    ids.flatMap((id) => [
      { external_user_id: id, name: 'user_signed_up', properties: { plan: 'pro' } },
      { external_user_id: id, name: 'trial_started', properties: { trialDays: 14 } },
    ]),
  );
}

const inMs = (ms: number): string => new Date(clock.now() + ms).toISOString();
const HOUR_MS = 3_600_000;

test('shows a user with their drafts, decisions and active runs', async () => {
  await getEmails('ada', 'bob');
  const { drafts, decisions, runs } = await show();
  expect(drafts).toEqual([
    {
      id: UUID,
      state: 'scheduled',
      rule: 'welcome',
      external_user_id: 'ada',
      subject: 'Welcome to Acme',
      deadline_at: inMs(2 * HOUR_MS),
      reason: null,
    },
  ]);
  const decided = { count: 1, at: now(), first_at: now(), detail: expect.any(Object) as object };
  expect(decisions.toSorted((a, b) => (a.rule < b.rule ? -1 : 1))).toEqual([
    { rule: 'onboarding_stall', fired: false, reason: 'starts_later', ...decided },
    { rule: 'trial_expiring', fired: false, reason: 'starts_later', ...decided },
    { rule: 'welcome', fired: true, reason: 'fired', ...decided },
  ]);
  expect(runs).toMatchObject([
    {
      rule: 'welcome',
      version: 1,
      state: 'active',
      variant: 'treatment',
      waits_for: 'draft',
      enrolled_at: now(),
    },
  ]);
});

test("exports whole drafts with every move, and the rules' state of this user only", async () => {
  await getEmails('ada', 'bob');
  const [draft] = await listDrafts(db, {
    projectId,
    state: null,
    ruleId: null,
    userId: 'ada',
    after: null,
    limit: 10,
  });
  if (!draft) throw new Error('no email was drafted');
  const { id: draftId, ruleId, userId } = draft;
  const message = {
    projectId,
    draftId,
    ruleId,
    userId,
    counts: true,
    claimedAt: clock.now(),
    domain: 'acme.example',
    provider: 'x.org',
    template: null,
    relay: null,
    relayGeneration: null,
    leaseUntil: clock.now(),
  };
  await claimEmails(db, [{ ...message, id: draftId, address: 'ada@x.org' }]);
  const until = clock.now() + HOUR_MS;
  const snoozed = { reason: 'snoozed', until, createdAt: clock.now(), createdBy: 'ada' } as const;
  await addSuppression(db, { projectId, kind: 'email', value: 'ADA@x.org', ...snoozed });
  const { value } = await exported();
  expect(value).toMatchObject({
    suppression: { reason: 'snoozed', until: inMs(HOUR_MS) },
    drafts: [
      {
        id: draftId,
        rule: 'welcome',
        body: expect.stringContaining('Hi ada,') as string,
        facts: { 'user.name': 'ada' },
        moves: [{ number: 1, at: now(), action: 'schedule', from: null, to: 'scheduled', actor: 'engine' }],
      },
    ],
    decisions: (await show()).decisions,
    runs: (await show()).runs,
    enrollments: [{ rule: 'welcome', key: '', enrolled_at: now(), level: 0 }],
    emails: [{ rule: 'welcome', draft_id: draftId, address: 'ada@x.org', state: 'claimed' }],
  });
  expect(value['timers']).toHaveLength(2);
  expect(JSON.stringify(value)).not.toContain('bob');
});

test('exports more drafts than a page holds, each once', async () => {
  await getEmails('ada');
  await db.query(
    `INSERT INTO beckon.draft SELECT (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid()))).*
     FROM beckon.draft d, generate_series(1, 449) WHERE d.project_id = $1`,
    [projectId],
  );
  const drafts = (await exported()).value['drafts'] as { id: string }[];
  expect(drafts).toHaveLength(450);
  expect(new Set(drafts.map(({ id }) => id)).size).toBe(450);
});
