import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type {
  BacktestLine,
  RuleChecked,
  RuleFlow,
  RuleListed,
  RuleResults,
  RuleDetails,
  RuleSwitchPreview,
  RuleVersion,
  RunListed,
} from '@beckon/contract/dashboard';
import { costlyBody } from '../../../testing/factories/costly-inputs.ts';
import { alsoForPages } from '../../../testing/factories/database.ts';
import { type DashboardRequestOptions, testDashboard } from '../../../testing/servers/dashboard.ts';
import { DAY, newScenario, openStage, type Scenario } from '../../../testing/scenario.ts';
import { listEntries } from '../workspace/audit/store.ts';

const stage = await openStage();
const dashboard = testDashboard(stage.server.db);
afterAll(() => dashboard.close());

const HOUR = DAY / 24;
let scenario: Scenario;
beforeEach(async () => {
  scenario = await newScenario(stage);
  await scenario.set({ quiet_hours: 'off' });
});

type RuleResponse<T> = {
  status: number;
  data: T;
  errors: { code: string; message: string; field?: string }[];
};
async function request<T>(what: string, options: DashboardRequestOptions = {}): Promise<RuleResponse<T>> {
  const [method, path = ''] = what.split(' ');
  const { status, json } = await dashboard.request(
    `${method} /projects/${scenario.projectId}${path}`,
    options,
  );
  return { status, data: json?.data as T, errors: json?.errors ?? [] };
}
const EMAIL = { subject: 'Hello {{ user.name | default: "there" }}', body: 'About {{ event.name }}' };
const greeter = (more: object = {}): Record<string, unknown> => ({
  name: 'greeter',
  when: { event: 'hello' },
  steps: [{ draft: EMAIL }],
  ...more,
});
async function settled(): Promise<void> {
  await stage.engine.settle();
}

test('lists rules by priority with their activity on each of the last seven days', async () => {
  await scenario.rule(greeter({ priority: 1_000, mode: 'autopilot', deadline: '1h' }));
  await scenario.user('ada', { email: 'ada@x.org' });
  await scenario.event('ada', 'hello');
  await scenario.later(2 * HOUR);
  await scenario.event('bob', 'hello');
  await settled();
  const { data } = await request<RuleListed[]>('GET /rules', { as: 'viewer' });
  expect(data.map(({ name }) => name)).toEqual([
    'greeter',
    'trial_expiring',
    'plan_limit_upsell',
    'welcome',
    'onboarding_stall',
  ]);
  const [first] = data;
  expect(first).toMatchObject({
    on: true,
    mode: 'autopilot',
    deadline: '1h',
    sends_after: '1h',
    open_drafts: 1,
    emails: 1,
    steps: 1,
  });
  expect(first?.sentence).toContain('Starts when hello happens.');
  expect(first?.week).toHaveLength(7);
  expect(first?.week.at(-1)).toMatchObject({ enrolled: 2, drafted: 2, sent: 1, goal: 0 });
  expect(data[1]?.week.every(({ enrolled }) => enrolled === 0)).toBe(true);
});

test('returns 404 for a rule of another project and for an unknown one', async () => {
  const id = await scenario.rule(greeter());
  const other = await newScenario(stage);
  for (const path of ['', '/versions', '/runs', '/results', '/switch', '/move-waiting'])
    expect((await dashboard.request(`GET /projects/${other.projectId}/rules/${id}${path}`)).status).toBe(404);
  expect((await request('POST /rules/nothing/switch', { body: { on: false } })).status).toBe(404);
});

test('refuses changes by a viewer, and audits those of an editor', async () => {
  const made = await request<RuleDetails>('POST /rules', { body: { document: greeter() }, as: 'editor' });
  expect([made.status, made.data.on, made.data.version]).toEqual([200, false, 1]);
  for (const [what, body] of [
    ['POST /rules', { document: greeter() }],
    ['PUT /rules/greeter', { document: greeter(), updated_at: made.data.updated_at }],
    ['POST /rules/greeter/mode', { mode: 'draft' }],
    ['POST /rules/greeter/switch', { on: false }],
    [
      'POST /rules/switch-many',
      { on: false, rules: [{ id: made.data.id, updated_at: made.data.updated_at }] },
    ],
    ['POST /rules/greeter/reorder', { before: null }],
    ['POST /rules/greeter/duplicate', {}],
    ['POST /rules/greeter/move-waiting', {}],
  ] as const)
    expect([what, (await request(what, { body, as: 'reviewer' })).status]).toEqual([what, 403]);
  const entries = await listEntries(stage.server.db, {
    projectIds: [scenario.projectId],
    actor: null,
    action: null,
    after: null,
    limit: 10,
  });
  expect(entries.map(({ action, subject }) => [action, subject])).toEqual([['rule.create', 'greeter']]);
});

test('reports errors of a rule at their place, and stores nothing', async () => {
  const document = greeter({ when: { event: 'hello', within: '3d' }, holdout: 80 });
  const made = await request('POST /rules', { body: { document } });
  expect(made.status).toBe(422);
  expect(new Set(made.errors.map(({ field }) => field))).toEqual(new Set(['holdout', 'when.within']));
  const { data } = await request<RuleChecked>('POST /rules/check', { body: { document }, as: 'viewer' });
  expect(new Set(data.faults.map(({ field }) => field))).toEqual(new Set(['holdout', 'when.within']));
  expect(data.sentence).toBe(null);
  const unknown = await request<RuleChecked>('POST /rules/check', {
    body: { document: greeter({ steps: [{ draft: 'no such email' }] }) },
  });
  expect(unknown.data.faults).toMatchObject([{ field: 'steps.0.draft' }]);
  expect((await request<RuleListed[]>('GET /rules')).data).toHaveLength(4);
});

describe('checking, creating and updating a rule', () => {
  test('refuses an email that takes too much work to render, and names its field', async () => {
    const { data: made } = await request<RuleDetails>('POST /rules', { body: { document: greeter() } });
    const document = greeter({ steps: [{ draft: { subject: 'Hello', body: costlyBody() } }] });
    const fault = { field: 'steps.0.draft.body' };
    const checked = await request<RuleChecked>('POST /rules/check', { body: { document }, as: 'viewer' });
    expect(checked.data.faults).toMatchObject([fault]);
    const created = await request('POST /rules', { body: { document: { ...document, name: 'other' } } });
    expect([created.status, created.errors]).toMatchObject([422, [fault]]);
    const put = { document, updated_at: made.updated_at };
    const updated = await request('PUT /rules/greeter', { body: put });
    expect([updated.status, updated.errors]).toMatchObject([422, [fault]]);
    expect((await request<RuleDetails>('GET /rules/greeter')).data.version).toBe(1);
    expect((await request<RuleListed[]>('GET /rules')).data).toHaveLength(5);
  });
});

test('checks a rule: its sentence, its warnings, and the drafts and users that saving would affect', async () => {
  await scenario.rule(greeter({ mode: 'draft' }));
  await scenario.event('ada', 'hello');
  await settled();
  const document = greeter({ mode: 'draft', when: { event: 'helo' } });
  const { data } = await request<RuleChecked>('POST /rules/check', { body: { document, rule: 'greeter' } });
  expect(data).toMatchObject({ new_version: true, open_untouched: 1, under_way: 1, faults: [] });
  expect(data.sentence).toContain('Starts when helo happens');
  expect(data.sentence_before).toContain('Starts when hello happens');
  expect(data.warnings).toMatchObject([{ code: 'event_never_seen' }]);
  const same = { document: greeter({ mode: 'autopilot' }), rule: 'greeter' };
  expect((await request<RuleChecked>('POST /rules/check', { body: same })).data.new_version).toBe(false);
});

test('refuses the second of two concurrent edits, and overwrites nothing', async () => {
  const { data: made } = await request<RuleDetails>('POST /rules', { body: { document: greeter() } });
  stage.server.clock.advance(1_000);
  const put = (priority: number) =>
    request<{ rule: RuleDetails }>('PUT /rules/greeter', {
      body: { document: greeter({ priority }), updated_at: made.updated_at },
    });
  expect((await put(60)).data.rule).toMatchObject({ version: 2, priority: 60 });
  const second = await put(70);
  expect([second.status, second.errors[0]?.message]).toEqual([
    409,
    expect.stringContaining('as version 2') as string,
  ]);
  expect((await request<RuleDetails>('GET /rules/greeter')).data.priority).toBe(60);
  const { data: versions } = await request<RuleVersion[]>('GET /rules/greeter/versions');
  expect(versions).toMatchObject([
    { version: 2, is_present: true, created_by: 'Ada' },
    { version: 1, is_present: false, created_by: 'Ada' },
  ]);
  const odd = { document: greeter(), updated_at: 'yesterday' };
  expect((await request('PUT /rules/greeter', { body: odd })).errors[0]?.field).toBe('updated_at');
});

test('switches autopilot on and off, and moves open drafts only on request', async () => {
  await scenario.rule(greeter({ mode: 'draft' }));
  await scenario.user('ada', { email: 'ada@x.org' });
  await scenario.event('ada', 'hello');
  await settled();
  type Saved = { rule: RuleDetails; drafts: number; before: { mode: string; deadline: string | null } };
  const up = { mode: 'autopilot', deadline: '4h' };
  const first = await request<Saved>('POST /rules/greeter/mode', { body: up });
  expect(first.data).toMatchObject({ drafts: 0, before: { mode: 'draft', deadline: null } });
  expect(first.data.rule).toMatchObject({ mode: 'autopilot', sends_after: '4h', version: 1 });
  expect((await scenario.drafts('ada'))[0]?.deadlineAt).toBe(null);
  const again = await request<Saved>('POST /rules/greeter/mode', { body: { ...up, include_open: true } });
  expect(again.data.drafts).toBe(1);
  expect((await scenario.drafts('ada'))[0]?.deadlineAt).toBe(scenario.now() + 4 * HOUR);
  const back = await request<Saved>('POST /rules/greeter/mode', { body: { mode: 'draft', deadline: null } });
  expect(back.data).toMatchObject({ drafts: 1, rule: { mode: 'draft', deadline: null } });
  expect((await scenario.drafts('ada'))[0]?.deadlineAt).toBe(null);
  const odd = await request('POST /rules/greeter/mode', { body: { mode: 'draft', deadline: 'soon' } });
  expect([odd.status, odd.errors[0]?.field]).toEqual([422, 'deadline']);
});

test('previews the effect of switching off and on, which then has that effect', async () => {
  await scenario.rule(greeter({ mode: 'autopilot', deadline: '1h', expires_after: '2h' }));
  await scenario.user('ada', { email: 'ada@x.org' });
  await scenario.user('eve', { email: 'eve@x.org' });
  for (const user of ['ada', 'bob', 'eve']) await scenario.event(user, 'hello');
  await settled();
  await scenario.act('eve', {
    kind: 'edit',
    content: { subject: 'S', preheader: '', body: 'B', format: 'markdown' },
  });
  const off = await request<RuleSwitchPreview>('GET /rules/greeter/switch');
  // Bob has no address: his draft waits for one, whatever happens to the rule.
  expect(off.data).toEqual({
    mode: 'autopilot',
    open: 3,
    drafts: 2,
    others: 1,
    sending: 0,
    runs: 3,
    long_held: 0,
  });
  type Switched = { rule: RuleDetails; drafts: number; runs: number; expired: number };
  const switched = await request<Switched>('POST /rules/greeter/switch', { body: { on: false } });
  expect(switched.data).toMatchObject({ drafts: 2, runs: 3, rule: { on: false } });
  stage.server.clock.advance(4 * HOUR);
  const on = await request<RuleSwitchPreview>('GET /rules/greeter/switch');
  const back = await request<Switched>('POST /rules/greeter/switch', { body: { on: true } });
  expect(back.data).toMatchObject({ rule: { on: true }, runs: 3 });
  expect([on.data.drafts, on.data.others, on.data.runs]).toEqual([
    back.data.drafts,
    back.data.expired,
    back.data.runs,
  ]);
  expect(back.data.expired).toBe(2);
});

test('creates a copy switched off, and moves a rule before another', async () => {
  await scenario.rule(greeter({ priority: 10 }));
  const copy = await request<RuleDetails>('POST /rules/greeter/duplicate', { body: {} });
  expect(copy.data).toMatchObject({ name: 'greeter (copy)', on: false, version: 1, priority: 10 });
  const more = await request<RuleDetails>('POST /rules/greeter/duplicate', { body: {} });
  expect(more.data.name).toBe('greeter (copy 2)');
  const duplicate = await request('POST /rules/greeter/duplicate', { body: { name: 'greeter' } });
  expect([duplicate.status, duplicate.errors[0]?.field]).toEqual([422, 'name']);
  const moved = await request<{ changed: { name: string }[] }>('POST /rules/greeter/reorder', {
    body: { before: 'welcome' },
  });
  expect(moved.data.changed).toMatchObject([{ name: 'greeter', priority: 75 }]);
  const names = (await request<RuleListed[]>('GET /rules')).data.map(({ name }) => name);
  expect(names.indexOf('greeter')).toBe(names.indexOf('welcome') - 1);
  expect((await request('POST /rules/greeter/reorder', { body: { before: 'nothing' } })).status).toBe(404);
});

test('streams a backtest with progress and results, repeats them exactly, and writes nothing', async () => {
  await scenario.rule(greeter());
  for (const user of ['ada', 'bob']) await scenario.event(user, 'hello');
  await scenario.event('cyd', 'goodbye');
  await settled();
  const document = greeter({ when: [{ event: 'goodbye' }] });
  const options = { body: { days: 7, document }, as: 'viewer' as const };
  const run = async () => dashboard.request(`POST /projects/${scenario.projectId}/rules/backtest`, options);
  const first = await run();
  expect(first.headers['content-type']).toContain('x-ndjson');
  const lines = first.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as BacktestLine);
  expect(lines.filter((line) => 'progress' in line).length).toBeGreaterThan(1);
  const last = lines.at(-1);
  expect(last).toMatchObject({
    result: {
      is_saved: false,
      comparison: { added: { external_user_ids: ['cyd'] }, removed: { users: 2 }, emails: -1 },
      samples: [{ external_user_id: 'cyd', subject: 'Hello there', body: 'About goodbye' }],
    },
  });
  expect((await run()).text).toBe(first.text);
  expect(await scenario.drafts('cyd')).toEqual([]);
  const wrong = await request('POST /rules/backtest', { body: { days: 7, document: { name: 'greeter' } } });
  expect([wrong.status, wrong.errors[0]?.field]).toEqual([422, 'when']);
  expect((await request('POST /rules/backtest', { body: { days: 7 } })).status).toBe(422);
  expect((await request('POST /rules/backtest', { body: { days: 500, rule: 'greeter' } })).status).toBe(422);
  expect((await request('POST /rules/backtest', { body: { days: 7, rule: 'nothing' } })).status).toBe(404);
});

test('runs two backtests at once, refuses a third, and frees a place when one ends', async () => {
  const { db } = stage.server;
  const opened = Promise.withResolvers<void>();
  const held = alsoForPages(db, (pool) => ({
    ...pool,
    session: (options) => opened.promise.then(() => pool.session(options)),
  }));
  const other = testDashboard(held);
  const run = () =>
    other.request(`POST /projects/${scenario.projectId}/rules/backtest`, {
      body: { days: 7, rule: 'welcome' },
    });
  const running = [run(), run(), run()];
  const first = await Promise.race(running);
  expect([first.status, first.json.errors[0]?.code]).toEqual([409, 'conflict']);
  opened.resolve();
  const all = await Promise.all(running);
  expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 409]);
  expect((await run()).status).toBe(200);
  await other.close();
});

test('shows the results of a rule: its funnel, the reasons of exclusions, and how its drafts ended', async () => {
  await scenario.rule(greeter({ mode: 'autopilot', deadline: '1h', goal: { event: 'bought', at_least: 1 } }));
  await scenario.user('ada', { email: 'ada@x.org' });
  await scenario.event('ada', 'hello');
  await scenario.later(2 * HOUR);
  await scenario.event('ada', 'bought');
  await scenario.event('ada', 'hello');
  await settled();
  const { data } = await request<RuleResults>('GET /rules/greeter/results?days=7');
  expect(data.funnel).toMatchObject({ enrolled: 1, drafted: 1, sent: 1, goal: 1 });
  expect(data.drafts).toEqual({ untouched: 1, edited: 0, skipped: 0 });
  expect(data).toMatchObject({ has_goal: true, holdout_percent: 0, lift: null });
  expect(data.excluded.length).toBeGreaterThan(0);
  expect((await request('GET /rules/greeter/results?days=0')).status).toBe(422);
});

test('lists the users in a rule by their step, in pages', async () => {
  const steps = [{ wait: '3d' }, { draft: EMAIL }];
  await scenario.rule(greeter({ steps }));
  for (const user of ['ada', 'bob', 'cyd']) {
    await scenario.event(user, 'hello');
    await scenario.later(1_000);
  }
  const path = `GET /projects/${scenario.projectId}/rules/greeter/runs?limit=2`;
  const first = await dashboard.request(path);
  const people = (reply: typeof first) =>
    (reply.json.data as unknown as RunListed[]).map(({ external_user_id: user }) => user);
  expect([people(first), first.json.meta.pagination.total]).toEqual([['cyd', 'bob'], 3]);
  const next = await dashboard.request(`${path}&cursor=${first.json.meta.cursor}`);
  expect([people(next), next.json.meta.cursor]).toEqual([['ada'], null]);
  expect((first.json.data as unknown as RunListed[])[0]).toMatchObject({
    step: { at: 0, label: 'wait 3 days' },
    waits_for: 'time',
    trigger: 'hello',
  });
  expect((await dashboard.request(`${path}&step=1`)).json.data).toEqual([]);
  expect((await dashboard.request(`${path}&cursor=x`)).status).toBe(422);
});

test('moves users of an older version where both versions agree so far, and previews how many', async () => {
  const steps = [{ wait: '3d' }, { draft: EMAIL }];
  await scenario.rule(greeter({ steps }));
  for (const user of ['ada', 'bob']) await scenario.event(user, 'hello');
  await settled();
  const { data: rule } = await request<RuleDetails>('GET /rules/greeter');
  const document = greeter({ steps: [...steps, { wait: '5d' }, { draft: EMAIL }] });
  await request('PUT /rules/greeter', { body: { document, updated_at: rule.updated_at } });
  const preview = await request('GET /rules/greeter/move-waiting');
  expect(preview.data).toEqual({ version: 2, moved: 2, stayed: [] });
  expect((await request<RuleFlow>('GET /rules/greeter/flow')).data).toMatchObject({ in_older_versions: 2 });
  expect((await request('POST /rules/greeter/move-waiting', { body: {} })).data).toEqual(preview.data);
  const { data: flow } = await request<RuleFlow>('GET /rules/greeter/flow');
  expect(flow).toMatchObject({ version: 2, in_older_versions: 0 });
  expect(flow.steps).toMatchObject([{ at: 0, active: 2 }, { at: 1, active: 0 }, { at: 2 }, { at: 3 }]);
});

test('counts the users at each step, those who passed it and those who left there, and describes the parts', async () => {
  const steps = [
    { draft: EMAIL },
    {
      branch: { if: { trait: 'plan', equals: 'pro' } },
      then: [{ draft: { subject: 'Pro', body: 'Hello' } }],
      else: [{ wait: '3d' }],
    },
    { wait: '5d' },
  ];
  const exits = { events: ['stopped'] };
  await scenario.set({ frequency_cap: 'off' });
  await scenario.rule(
    greeter({ mode: 'autopilot', deadline: '1h', exits, steps, only_if: { event: 'hello' } }),
  );
  await scenario.user('ada', { email: 'ada@x.org', traits: { plan: 'pro' } });
  for (const user of ['bob', 'cyd']) await scenario.user(user, { email: `${user}@x.org` });
  for (const user of ['ada', 'bob', 'cyd']) await scenario.event(user, 'hello');
  await scenario.later(2 * HOUR);
  await scenario.later(2 * HOUR);
  await scenario.event('cyd', 'stopped');
  await settled();
  const { data } = await request<RuleFlow>('GET /rules/greeter/flow?days=7');
  expect(data).toMatchObject({ enrolled: 3, holdout: 0, goal: 0, ended: { exit_event: 1 } });
  expect(data.steps.map(({ path, active, passed, ended }) => [path, active, passed, ended])).toEqual([
    ['steps.0', 0, 3, {}],
    ['steps.1', 0, 3, {}],
    ['steps.1.then.0', 0, 1, {}],
    ['steps.1.else.0', 1, 0, { exit_event: 1 }],
    ['steps.2', 1, 0, {}],
  ]);
  expect(data.labels).toMatchObject({
    'when.0': 'when hello happens',
    only_if: 'the user has done hello',
    'steps.1': 'plan is pro',
    'steps.1.else.0': 'wait 3 days',
  });
  const listed = await request<RuleListed[]>('GET /rules');
  expect(listed.data.find(({ name }) => name === 'greeter')).toMatchObject({ users: 2 });
  expect((await request('GET /rules/greeter/flow?days=0')).status).toBe(422);
});

test('counts as passed only runs of the current version, whose steps are the ones shown', async () => {
  await scenario.rule(greeter({ steps: [{ wait: '1h' }, { wait: '9d' }, { draft: EMAIL }] }));
  await scenario.event('ada', 'hello');
  await scenario.later(2 * HOUR);
  const passed = async (): Promise<number[]> =>
    (await request<RuleFlow>('GET /rules/greeter/flow')).data.steps.map((step) => step.passed);
  expect(await passed()).toEqual([1, 0, 0]);
  const { data: rule } = await request<RuleDetails>('GET /rules/greeter');
  const document = greeter({ steps: [{ draft: EMAIL }, { wait: '9d' }] });
  await request('PUT /rules/greeter', { body: { document, updated_at: rule.updated_at } });
  expect(await passed()).toEqual([0, 0]);
});

test('describes the parts of a document that have no errors of their own', async () => {
  const document = greeter({ steps: [{ wait: 'soon' }, { wait: '3d' }], goal: { event: 'bought' } });
  const { data } = await request<RuleChecked>('POST /rules/check', { body: { document } });
  expect(data.sentence).toBe(null);
  expect(data.labels).toEqual({
    'when.0': 'when hello happens',
    goal: 'the user has done bought',
    'steps.1': 'wait 3 days',
  });
});

test('enables a rule in the chosen mode, and proposes autopilot unless AI drafting is on or the rule has run', async () => {
  const { data: created } = await request<RuleDetails>('POST /rules', {
    body: { document: greeter({ mode: 'draft' }) },
  });
  expect(created.on).toBe(false);
  const proposed = async (): Promise<string> =>
    (await request<RuleSwitchPreview>('GET /rules/greeter/switch')).data.mode;
  expect(await proposed()).toBe('autopilot');
  await scenario.set({ drafting: 'model' });
  expect(await proposed()).toBe('draft');
  const body = { on: true, mode: 'autopilot' };
  const { data } = await request<{ rule: RuleDetails }>('POST /rules/greeter/switch', { body });
  expect(data.rule).toMatchObject({ on: true, mode: 'autopilot', version: 1 });
  await scenario.set({ drafting: 'template' });
  await request('POST /rules/greeter/mode', { body: { mode: 'draft' } });
  await scenario.user('ada', { email: 'ada@x.org' });
  await scenario.event('ada', 'hello');
  await settled();
  await request('POST /rules/greeter/switch', { body: { on: false } });
  expect(await proposed()).toBe('draft');
  const refused = await request('POST /rules/greeter/switch', { body: { on: false, mode: 'draft' } });
  expect(refused.errors).toMatchObject([{ field: 'mode' }]);
});
