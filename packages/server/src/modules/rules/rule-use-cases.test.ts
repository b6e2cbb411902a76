import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { openEngine } from '../../../testing/factories/engine.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { testRenderer } from '../../../testing/factories/send-services.ts';
import { listDecisionsOf } from './decisions/store.ts';
import type { Draft } from '../drafts/draft.ts';
import { approve } from '../review/approve-draft.ts';
import { edit } from '../drafts/edit-draft.ts';
import { findDraft, listDrafts, lockDraft, lockDrafts } from '../drafts/reads.ts';
import { orThrow } from '../drafts/refusals.ts';
import { writeTransitions } from '../drafts/store.ts';
import { findCounted } from '../users/events/counted.ts';
import { listCountingProjects } from '../users/events/reads.ts';
import { findRule } from './definitions/load-rules.ts';
import { listRunsOf } from './runs/reads.ts';
import type { Run } from './runs/run.ts';
import { checkUnsavedRule } from './check-rule.ts';
import { createAudience, deleteAudience } from '../audiences/change-audience.ts';
import { createProject } from '../administration/create-project.ts';
import { createRule, editRule, reorderRules, setMode } from './write-rule.ts';
import { moveWaiting } from './action-routes.ts';
import { setSettings } from '../administration/set-settings.ts';
import { showRule } from './show-rules.ts';
import { liftSuppression, suppress } from '../outcomes/suppressions/suppress.ts';
import { disableRule, enableRule } from './switch-rule.ts';
import { listRuleNeeds } from './runs/rules-in-force.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const EMAIL = { subject: 'Hello', body: 'Hello {{ user.name | default: "there" }}' };
const GREETER = { name: 'greeter', when: { event: 'hello' }, steps: [{ draft: EMAIL }] };
const THERE_IS_NONE = '01900000-0000-7000-8000-000000000000';

let projectId = 0;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
  // These tests are not about the time of sending.
  await setSettings(db, projectId, { quiet_hours: 'off', frequency_cap: 'off' });
});

const make = (document: object = {}) => createRule(db, { projectId, document: { ...GREETER, ...document } });
const update = (document: object, more: { includeOpen?: boolean } = {}) =>
  editRule(db, {
    projectId,
    reference: 'greeter',
    document: { when: GREETER.when, steps: GREETER.steps, ...document },
    includeOpen: more.includeOpen ?? false,
    actor: 'operator',
  });
const off = () => disableRule(db, { projectId, reference: 'greeter', actor: 'operator' });
const on = (confirmed = false) =>
  enableRule(db, { projectId, reference: 'greeter', actor: 'operator', confirmed });

async function send(name: string, ...ids: string[]): Promise<void> {
  const records = ids.map((id) => ({ external_user_id: id, name, properties: {} }));
  await putRecords(db, { projectId, kind: 'events', records });
  await engine.settle();
}

async function know(...ids: string[]): Promise<void> {
  const records = ids.map((id) => ({ external_user_id: id, email: `${id}@x.org` }));
  await putRecords(db, { projectId, kind: 'users', records });
  await engine.settle();
}

/** Returns new drafts for these users. */
async function greet(...ids: string[]): Promise<Draft[]> {
  await know(...ids);
  await send('hello', ...ids);
  return draftsOf();
}

function draftsOf(userId: string | null = null): Promise<Draft[]> {
  return listDrafts(db, { projectId, state: null, ruleId: null, userId, after: null, limit: 1_000 });
}

const runsOf = (userId: string): Promise<Run[]> => listRunsOf(db, { projectId, userId, limit: 10 });
const sentTo = (): string[] =>
  engine.transport.emails.filter((email) => email.projectId === projectId).map(({ address }) => address);

async function modelOf(): Promise<number> {
  const rows = await db.query<{ model: number }>(
    'SELECT model FROM beckon.project_lock WHERE project_id = $1',
    [projectId],
  );
  return rows[0]?.model ?? 0;
}

async function alarmOf(work: 'process' | 'send'): Promise<number | null> {
  const rows = await db.query<{ at: Date | null }>(
    'SELECT next_at AS at FROM beckon.project_timer WHERE project_id = $1 AND work = $2',
    [projectId, work],
  );
  return rows[0]?.at?.getTime() ?? null;
}

test('evaluates a new rule from the next record on, and not for earlier ones', async () => {
  await know('ada', 'bob');
  await send('hello', 'ada');
  clock.advance(1_000);
  const model = await modelOf();
  await make();
  expect(await modelOf()).toBeGreaterThan(model);
  await send('hello', 'bob');
  expect((await draftsOf()).map(({ userId }) => userId)).toEqual(['bob']);
});

test('rejects a rule that refers to missing things, with the place of each', async () => {
  const branch = (condition: object) => ({
    branch: { if: condition },
    else: [{ draft: { subject: 'Hi', body: '{{ unknown.name }}' } }],
  });
  const audience = { audience: THERE_IS_NONE };
  const refused = make({
    when: [{ ...audience, move: 'joined' }],
    only_if: audience,
    goal: { not: audience },
    exits: { when: audience },
    steps: [{ draft: 'farewell' }, branch(audience)],
  });
  const at = (field: string) => ({ field, message: expect.stringContaining(field) as string });
  await expect(refused).rejects.toMatchObject({
    code: 'validation_failed',
    details: [
      at('when'),
      at('only_if'),
      at('exits.when'),
      at('goal'),
      at('steps.1.branch.if'),
      at('steps.0.draft'),
      at('steps.1.else.0.draft.body'),
    ],
  });
  await expect(make({ steps: [] })).rejects.toMatchObject({ details: [{ field: 'steps' }] });
  await expect(findRule(db, { projectId, reference: 'greeter' })).rejects.toMatchObject({
    code: 'not_found',
  });
  // The shipped templates have names.
  await make({ steps: [{ draft: 'welcome' }] });
  await expect(update({ steps: [{ draft: 'farewell' }] })).rejects.toMatchObject({
    details: [{ field: 'steps.0.draft' }],
  });
  expect((await findRule(db, { projectId, reference: 'greeter' })).version).toBe(1);
});

test('keeps events as long as a rule looks back, and rejects a rule that looks back further', async () => {
  const within = (days: number) => ({ event: 'login', at_least: 1, within: `${days}d` });
  const gone = { absence_of: ['login'], since: { event: 'hello' }, for: '60d' };
  await setSettings(db, projectId, { keep_events: '59d' });
  const refused = { code: 'validation_failed', details: [{ field: 'rule' }] };
  await expect(make({ only_if: within(60) })).rejects.toMatchObject(refused);
  await expect(make({ when: gone })).rejects.toMatchObject(refused);
  await make({ goal: within(59) });
  await expect(update({ exits: { when: within(60) } })).rejects.toMatchObject(refused);
  await expect(setSettings(db, projectId, { keep_events: '58d' })).rejects.toMatchObject({
    details: [{ field: 'keep_events', message: expect.stringMatching(/at least 59d.*"greeter"/) as string }],
  });
  // Active runs are evaluated by the version in which they began.
  await greet('ada');
  await update({});
  await expect(setSettings(db, projectId, { keep_events: '58d' })).rejects.toMatchObject({
    details: [{ message: expect.stringContaining('older version') as string }],
  });
  await suppress(db, { projectId, kind: 'user', value: 'ada', reason: 'manual', until: null, actor: 'x' });
  clock.advance(15 * DAY_MS);
  await setSettings(db, projectId, { keep_events: '58d' });
});

test('counts events that a rule uses without a window, even if no audience does', async () => {
  const ids = Array.from({ length: 700 }, (_, i) => `u${i}`);
  await know(...ids);
  await send('login', ...ids);
  await make({ only_if: { event: 'login', at_least: 2 } });
  const counted = async () => (await findCounted(db, [projectId])).get(projectId)?.get('login');
  expect(await counted()).toEqual({ countedTo: null, isWhole: false });
  // Until the background count reaches a user, conditions use the stored events.
  await send('hello', 'u1');
  expect(await draftsOf('u1')).toEqual([]);
  const steps = [];
  while ((await listCountingProjects(db, { after: null, limit: 1_000 })).includes(projectId))
    steps.push(await engine.processor.count(projectId));
  expect(steps.length).toBeGreaterThan(2);
  expect(await counted()).toMatchObject({ isWhole: true });
  await send('login', 'u2');
  await send('hello', 'u1', 'u2');
  expect((await draftsOf()).map(({ userId }) => userId)).toEqual(['u2']);
  const rows = await db.query(
    `SELECT count(*) AS people, max(count) AS most FROM beckon.person_event WHERE project_id = $1`,
    [projectId],
  );
  expect(rows).toEqual([{ people: 700, most: 2 }]);
  expect(await engine.processor.count(projectId)).toBe('gone');
});

test('continues active runs in their version; later runs get the edited one', async () => {
  await make({ steps: [{ wait: '1d' }, { draft: EMAIL }] });
  await greet('ada');
  await update({ steps: [{ draft: { ...EMAIL, subject: 'Welcome' } }] });
  await greet('bob');
  await engine.advance(DAY_MS);
  const subjects = (await draftsOf()).map(({ userId, content }) => [userId, content.subject]);
  expect(new Map(subjects as [string, string][])).toEqual(
    new Map([
      ['ada', 'Hello'],
      ['bob', 'Welcome'],
    ]),
  );
  expect((await findRule(db, { projectId, reference: 'greeter' })).name).toBe('greeter');
});

test('a rule taken off autopilot no longer sends untouched drafts automatically', async () => {
  await make();
  await greet('ada', 'bob');
  const [edited] = await draftsOf('bob');
  if (!edited) throw new Error('no email was drafted');
  await db.transaction(async (tx) => {
    const draft = await lockDraft(tx, projectId, edited.id);
    const content = { ...edited.content, subject: 'By hand' };
    if (draft)
      await writeTransitions(tx, [orThrow(edit(draft, content, { actor: 'eve', now: clock.now() }))]);
  });
  expect((await update({ mode: 'draft' })).drafts).toBe(1);
  expect(await draftsOf('ada')).toMatchObject([{ state: 'scheduled', deadlineAt: null, autopilotMs: null }]);
  await engine.advance(3 * HOUR_MS);
  expect(sentTo()).not.toContain('ada@x.org');
  // An edited draft is sent at its deadline.
  expect(sentTo()).toContain('bob@x.org');
});

test('a change to autopilot keeps waiting drafts unless they are included', async () => {
  await make({ mode: 'draft' });
  await greet('carl');
  expect(await update({ mode: 'autopilot' })).toMatchObject({ drafts: 0 });
  await engine.advance(3 * HOUR_MS);
  expect(await draftsOf('carl')).toMatchObject([{ state: 'scheduled', deadlineAt: null }]);
  await update({ mode: 'draft' });
  const included = await update({ mode: 'autopilot', deadline: '1h' }, { includeOpen: true });
  expect(included.drafts).toBe(1);
  const deadlineAt = clock.now() + HOUR_MS;
  expect(await draftsOf('carl')).toMatchObject([{ state: 'scheduled', deadlineAt }]);
  expect(await alarmOf('send')).toBe(deadlineAt);
  await engine.advance(HOUR_MS);
  expect(sentTo()).toContain('carl@x.org');
});

test("gives no draft a deadline while the project's autopilot is off, whatever the rule's mode", async () => {
  await setSettings(db, projectId, { autopilot: 'draft' });
  await make({ mode: 'draft' });
  await greet('ada');
  expect(await update({ mode: 'autopilot', deadline: '1h' }, { includeOpen: true })).toMatchObject({
    drafts: 0,
  });
  expect(await draftsOf('ada')).toMatchObject([{ deadlineAt: null }]);
});

test('a disabled rule evaluates no users, and pauses its drafts and runs', async () => {
  await make({ steps: [{ draft: EMAIL }, { wait: '1d' }, { draft: { ...EMAIL, subject: 'Again' } }] });
  await greet('dora');
  expect(await off()).toMatchObject({ held: 1, paused: 1, rule: { enabledAt: null } });
  expect(await off()).toMatchObject({ held: 0, paused: 0 });
  expect(await draftsOf('dora')).toMatchObject([{ state: 'held', reason: 'rule_off', dueAt: null }]);
  await greet('emil');
  await engine.advance(5 * HOUR_MS);
  expect(await draftsOf('emil')).toEqual([]);
  expect(sentTo()).not.toContain('dora@x.org');
  expect(await runsOf('dora')).toMatchObject([{ state: 'paused' }]);

  const enabledAt = clock.now();
  expect(await on()).toMatchObject({ resumed: 1, expired: 0, resumedRuns: 1, rule: { enabledAt } });
  const [draft] = await draftsOf('dora');
  expect(draft).toMatchObject({ state: 'scheduled', reason: null });
  // 15 minutes to review it, and then spread over half an hour.
  expect(draft?.deadlineAt).toBeGreaterThanOrEqual(enabledAt + 15 * MINUTE_MS);
  expect(draft?.deadlineAt).toBeLessThanOrEqual(enabledAt + 45 * MINUTE_MS);
  expect(draft?.dueAt).toBe(draft?.deadlineAt);
  expect(await alarmOf('send')).toBe(draft?.deadlineAt);
  await engine.advance(45 * MINUTE_MS);
  expect(sentTo()).toContain('dora@x.org');
  // Events from the time when the rule was disabled are not evaluated later.
  expect(await draftsOf('emil')).toEqual([]);
  await engine.advance(DAY_MS);
  expect((await draftsOf('dora')).map(({ content }) => content.subject)).toEqual(['Again', 'Hello']);
});

test('enabling a rule keeps distant deadlines, and cancels expired drafts', async () => {
  await make({ expires_after: '1h', deadline: '2h', steps: [{ draft: EMAIL }, { draft: EMAIL }] });
  const [early] = await greet('finn');
  clock.advance(30 * MINUTE_MS);
  await off();
  clock.advance(30 * MINUTE_MS);
  expect(await on()).toMatchObject({ resumed: 1, expired: 0 });
  expect(await draftsOf('finn')).toMatchObject([{ state: 'scheduled', deadlineAt: early?.deadlineAt }]);
  await off();
  clock.advance(3 * HOUR_MS);
  expect(await on()).toMatchObject({ resumed: 0, expired: 1 });
  expect((await draftsOf('finn')).at(-1)).toMatchObject({ state: 'canceled', reason: 'expired' });
  // A draft that expired ends its step: the run continues with the next.
  expect(await alarmOf('process')).toBeLessThanOrEqual(clock.now());
  await engine.settle();
  expect((await draftsOf('finn')).map(({ state }) => state)).toEqual(['scheduled', 'canceled']);
});

test('enabling a rule keeps approvals, and spreads the drafts over half an hour', async () => {
  await make();
  const ids = (await greet(...Array.from({ length: 9 }, (_, i) => `nora${i}`))).map(({ id }) => id);
  await db.transaction(async (tx) => {
    const by = { actor: 'eve', now: clock.now() };
    await writeTransitions(
      tx,
      (await lockDrafts(tx, projectId, ids)).map((draft) => orThrow(approve(draft, by))),
    );
  });
  expect(await off()).toMatchObject({ held: 9 });
  await engine.advance(HOUR_MS);
  expect(sentTo()).toEqual([]);
  await on();
  const open = await draftsOf();
  expect(open.every(({ state, dueAt }) => state === 'approved' && dueAt !== null)).toBe(true);
  const times = open.map(({ dueAt }) => (dueAt ?? 0) - clock.now());
  expect(Math.max(...times)).toBeLessThanOrEqual(30 * MINUTE_MS);
  expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(5 * MINUTE_MS);
  await engine.advance(30 * MINUTE_MS);
  expect(sentTo()).toHaveLength(9);
});

test('a draft without an address waits for the address first, and then for its disabled rule', async () => {
  await make();
  await send('hello', 'gina');
  expect(await draftsOf('gina')).toMatchObject([{ state: 'held', reason: 'no_address' }]);
  expect(await off()).toMatchObject({ held: 0, paused: 1 });
  await know('gina');
  await engine.advance(3 * HOUR_MS);
  expect(await draftsOf('gina')).toMatchObject([{ state: 'held', reason: 'rule_off' }]);
  expect(sentTo()).not.toContain('gina@x.org');
  await on();
  await engine.advance(HOUR_MS);
  expect(sentTo()).toContain('gina@x.org');
});

test('requires a confirmation to release more than 100 drafts that were held for long', async () => {
  await make();
  await greet(...Array.from({ length: 601 }, (_, i) => `many${i}`));
  expect(await off()).toMatchObject({ held: 601, paused: 601 });
  clock.advance(DAY_MS + 1);
  await expect(on()).rejects.toMatchObject({
    code: 'conflict',
    details: [{ message: expect.stringContaining('601 drafts') as string }],
  });
  expect(await findRule(db, { projectId, reference: 'greeter' })).toMatchObject({ enabledAt: null });
  expect(new Set((await draftsOf()).map(({ state }) => state))).toEqual(new Set(['held']));
  expect(await on(true)).toMatchObject({ resumed: 601, resumedRuns: 601 });
  expect(new Set((await draftsOf()).map(({ dueAt }) => dueAt)).size).toBeGreaterThan(100);
  // Pauses the project, so that these drafts do not affect later tests.
  await setSettings(db, projectId, { paused: 'true' });
});

test('moves runs to the current version where both versions agree so far, and only on request', async () => {
  const again = { ...EMAIL, subject: 'Again' };
  await make({ steps: [{ wait: '1d' }, { draft: EMAIL }] });
  await greet('hugo');
  await update({ steps: [{ wait: '1d' }, { draft: again }] });
  expect(await runsOf('hugo')).toMatchObject([{ version: 1 }]);
  expect(await moveWaiting(db, { projectId, reference: 'greeter' })).toMatchObject({ moved: 1, stayed: [] });
  await update({ steps: [{ wait: '2d' }, { draft: EMAIL }] });
  expect(await moveWaiting(db, { projectId, reference: 'greeter' })).toMatchObject({
    moved: 0,
    stayed: [{ version: 2, step: 0, runs: 1 }],
  });
  await engine.advance(DAY_MS);
  expect((await draftsOf('hugo')).map(({ content }) => content.subject)).toEqual(['Again']);
});

test('keeps an audience that the current version of a rule or of an active run refers to', async () => {
  const definition = { trait: 'plan', equals: 'pro' };
  const { id } = await createAudience({ db, listRuleNeeds }, { projectId, name: 'Paying', definition });
  const remove = () => deleteAudience({ db, listRuleNeeds }, { projectId, reference: 'Paying' });
  const refused = { code: 'validation_failed', details: [{ field: 'audience' }] };
  await make({ goal: { audience: id }, steps: [{ wait: '1d' }, { draft: EMAIL }] });
  await expect(remove()).rejects.toMatchObject(refused);
  await expect(remove()).rejects.toThrowErrorMatchingInlineSnapshot(
    `[Fault: "Paying" cannot be deleted: the rule "greeter" refers to it]`,
  );
  await greet('ida');
  await update({ when: [GREETER.when, { audience: id, move: 'joined' }] });
  await expect(remove()).rejects.toMatchObject(refused);
  await update({});
  await expect(remove()).rejects.toThrowErrorMatchingInlineSnapshot(
    `[Fault: "Paying" cannot be deleted: the rule "greeter" refers to it, in an older version with active runs]`,
  );
  await engine.advance(20 * DAY_MS);
  await remove();
});

test('ends the drafts and runs of all users who share a suppressed address', async () => {
  await make({ steps: [{ draft: EMAIL }, { wait: '1d' }, { draft: EMAIL }] });
  await putRecords(db, {
    projectId,
    kind: 'users',
    records: [
      { external_user_id: 'jan', email: 'Team@Bücher.example' },
      { external_user_id: 'kim', email: 'team@xn--bcher-kva.example' },
    ],
  });
  await greet('lea');
  await send('hello', 'jan', 'kim');
  await suppress(db, {
    projectId,
    kind: 'user',
    value: 'unknown',
    reason: 'manual',
    until: null,
    actor: 'x',
  });
  const value = 'TEAM@xn--bcher-kva.example';
  const key = { projectId, kind: 'email', value } as const;
  const result = await suppress(db, { ...key, reason: 'manual', until: null, actor: 'operator' });
  expect(result).toEqual({ isAdded: true, drafts: 2, runs: 2 });
  for (const id of ['jan', 'kim']) {
    expect(await draftsOf(id)).toMatchObject([{ state: 'canceled', reason: 'suppressed' }]);
    expect(await runsOf(id)).toMatchObject([{ state: 'ended', endReason: 'suppressed' }]);
  }
  expect(await draftsOf('lea')).toMatchObject([{ state: 'scheduled' }]);
  const [draft] = await draftsOf('jan');
  const found = await findDraft(db, projectId, draft?.id ?? '');
  expect(found?.moves.at(-1)).toMatchObject({ action: 'cancel', actor: 'operator' });
  const again = await suppress(db, { ...key, reason: 'manual', until: null, actor: 'operator' });
  expect(again).toEqual({ isAdded: false, drafts: 0, runs: 0 });
  expect(await liftSuppression(db, [key])).toBe(true);
  expect(await liftSuppression(db, [key])).toBe(false);
});

test('reports a rule that no longer enrolls anyone, with the reason', async () => {
  await make({ only_if: { trait: 'plan', equals: 'pro' } });
  await know('mia');
  const show = async () =>
    (await showRule(db, { projectId, reference: 'greeter', now: clock.now() })).silence;
  clock.advance(6 * DAY_MS);
  await send('hello', 'mia');
  expect(await show()).toBe(null);
  clock.advance(DAY_MS);
  await send('hello', 'mia');
  expect(await show()).toMatchObject({ code: 'no_enrollments' });
  const [row] = await listDecisionsOf(db, { projectId, userId: 'mia', limit: 1 });
  expect(row).toMatchObject({ reason: 'only_if', count: 2 });
  await off();
  expect(await show()).toBe(null);
});

test('checks, edits, reorders and changes the mode of a rule with the maximum nesting', async () => {
  const nested = (levels: number, subject: string): object[] =>
    levels === 1
      ? [{ draft: { subject, body: 'Hello' } }]
      : [{ branch: { if: { trait: 'plan', equals: 'pro' } }, then: nested(levels - 1, subject) }];
  await make({ steps: nested(5, 'Hello') });
  const document = { name: 'greeter', when: GREETER.when, steps: nested(5, 'Good day') };
  const query = { projectId, now: clock.now(), document, reference: 'greeter' };
  const checked = await checkUnsavedRule({ db, renderer: testRenderer }, query);
  expect(checked).toMatchObject({ faults: [], isNewVersion: true });
  expect((await update({ steps: nested(5, 'Good day') })).rule.version).toBe(2);
  expect((await update({ steps: nested(5, 'Good day') })).rule.version).toBe(2);
  const of = { projectId, reference: 'greeter', actor: 'operator' };
  await reorderRules(db, { ...of, before: null });
  await setMode(db, { ...of, mode: 'draft', includeOpen: false });
  expect(await findRule(db, { projectId, reference: 'greeter' })).toMatchObject({ mode: 'draft' });
});
