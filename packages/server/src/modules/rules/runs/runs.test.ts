import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { idMaker } from '../../../platform/ids.ts';
import { compile, type ProgramStep } from './program.ts';
import { countLift, countRuns } from './runs-of-rule.ts';
import { endRun } from './advance-run.ts';
import { eraseRuns, pauseRuns, insertRuns, resumeRuns, updateRuns, wakeRuns } from './store.ts';
import { findOpenRuns, listDueRuns, listRunsOf, listVersionsInUse, nextRunAt } from './reads.ts';
import { moveRuns } from './move-runs.ts';
import type { Run } from './run.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
// Each run gets its own millisecond, so that ids are in the order of creation.
const ticking = fixedClock();
const idOf = idMaker(ticking);
const newId = (): string => {
  ticking.advance(1);
  return idOf();
};

let projectId = 0;
let ruleId = '';
beforeEach(() => {
  projectId += 10;
  ruleId = newId();
  clock.advance(1);
});

const HOUR = 3_600_000;
const now = (): number => clock.now();

function run(more: Partial<Run> = {}): Run {
  return {
    projectId,
    id: newId(),
    ruleId,
    version: 1,
    userId: 'u1',
    key: '',
    state: 'active',
    variant: 'treatment',
    single: false,
    step: 0,
    waitsFor: 'draft',
    nextAt: null,
    anchor: {
      kind: 'event',
      id: 'e1',
      name: 'trial_started',
      properties: { plan: `it's "{pro}", \\ 😀` },
      occurredAt: 1,
      acceptedAt: 2,
      seq: 3,
    },
    endsAt: null,
    enrolledAt: now(),
    goalUntil: null,
    convertedAt: null,
    endedAt: null,
    endReason: null,
    lostMs: null,
    ...more,
  };
}
const begin = async (...runs: Run[]): Promise<Run[]> => {
  const won = await insertRuns(db, runs);
  return runs.filter(({ id }) => won.has(id));
};
const waiting = (nextAt: number, more: Partial<Run> = {}): Run => run({ waitsFor: 'time', nextAt, ...more });
const of = (userId: string, limit = 10): Promise<Run[]> => listRunsOf(db, { projectId, userId, limit });
const ids = (runs: Run[]): string[] => runs.map(({ id }) => id);

test('reads a run as it was written, newest first', async () => {
  const full = run({
    key: `k,"}{\\'`,
    userId: 'u{1}, "x"',
    step: 4,
    waitsFor: 'event',
    nextAt: now() + 1,
    endsAt: now() + 2,
    goalUntil: now() + 3,
  });
  const over = {
    ...endRun(run({ userId: full.userId, variant: 'holdout', single: true }), 'holdout', now() + 5),
  };
  await begin(full, over);
  expect(await of(full.userId)).toEqual([over, full]);
  expect(await of(full.userId, 1)).toEqual([over]);
  expect(await of('unknown')).toEqual([]);
});

test('starts one run at a time per user if the rule allows only one', async () => {
  const single = (more: Partial<Run> = {}): Run => run({ single: true, ...more });
  const [first, second, other, sister] = [
    single(),
    single(),
    single({ userId: 'u2' }),
    single({ projectId: projectId + 1 }),
  ];
  expect(await begin(first, second, other, sister)).toEqual([first, other, sister]);
  expect(await begin(single())).toEqual([]);
  // A paused run is still open.
  await pauseRuns(db, projectId, ruleId);
  expect(await begin(single())).toEqual([]);
  await updateRuns(db, [endRun(first, 'done', now())]);
  expect(await begin(single())).toHaveLength(1);
  // A run that ends immediately, such as one of the holdout group, blocks nothing. Rules with repeated entry are not limited either.
  expect(await begin(endRun(single(), 'holdout', now()), run(), run())).toHaveLength(3);
  expect(await insertRuns(db, [])).toEqual(new Set());
});

test('starts one run if several start at the same time', async () => {
  const won = await Promise.all(
    Array.from({ length: 8 }, () => db.transaction((tx) => insertRuns(tx, [run({ single: true })]))),
  );
  expect(won.filter((set) => set.size === 1)).toHaveLength(1);
});

test('updates runs of several projects at once without changing their users', async () => {
  const [a, b, untouched] = [run(), run({ projectId: projectId + 1 }), run({ userId: 'u2' })];
  await begin(a, b, untouched);
  const moved: Run[] = [
    {
      ...b,
      step: 2,
      waitsFor: 'time',
      nextAt: now() + HOUR,
      endsAt: now() + 2,
      goalUntil: now() + 3,
      userId: 'x',
    },
    { ...endRun(a, 'exit_event', now() + 1), convertedAt: now() + 1 },
  ];
  await updateRuns(db, moved);
  await updateRuns(db, []);
  expect(await of('u1')).toEqual([moved[1]]);
  expect(await listRunsOf(db, { projectId: projectId + 1, userId: 'u1', limit: 10 })).toEqual([
    { ...moved[0], userId: 'u1' },
  ]);
  expect(await of('u2')).toEqual([untouched]);
});

test('returns open runs and, on request, runs that wait for their goal', async () => {
  const until = now() + HOUR;
  const over = (more: Partial<Run>): Run => endRun(run(more), 'done', now());
  const paused = run({ state: 'paused' });
  const open = run({ userId: 'u2' });
  const goal = over({ goalUntil: until });
  await begin(
    paused,
    goal,
    open,
    over({}),
    over({ goalUntil: until, convertedAt: now() }),
    run({ userId: 'u3' }),
    run({ projectId: projectId + 1 }),
  );
  const people = ['u2', 'u1', 'unknown'].map((userId) => ({ projectId, userId }));
  const find = (goals?: number) =>
    db.transaction((tx) => findOpenRuns(tx, people, goals === undefined ? {} : { goals }));
  expect(ids(await find())).toEqual(ids([paused, open]));
  expect(ids(await find(until - 1))).toEqual(
    ids([paused, open, goal].toSorted((a, b) => (a.id < b.id ? -1 : 1))),
  );
  expect(ids(await find(until))).toEqual(ids([paused, open]));
  expect(await findOpenRuns(db, [])).toEqual([]);
});

test('locks open runs until the transaction ends', async () => {
  const [started] = await begin(run());
  let woken: Promise<string[]> | undefined;
  await db.transaction(async (tx) => {
    const [held] = await findOpenRuns(tx, [{ projectId, userId: 'u1' }]);
    if (!held) throw new Error('nothing is open');
    woken = wakeRuns(db, { projectId, ids: [held.id], at: now() });
    await updateRuns(tx, [endRun(held, 'goal', now())]);
  });
  // It waited for the lock, and then found nothing to wake.
  expect(await woken).toEqual([]);
  expect(await of('u1')).toMatchObject([{ id: started?.id, state: 'ended', endReason: 'goal' }]);
});

test('returns due runs, longest overdue first, and the next due time', async () => {
  const runs = [3, 1, 2, 9].map((n) => waiting(now() + n));
  await begin(
    ...runs,
    run(),
    waiting(now(), { state: 'paused' }),
    waiting(now(), { projectId: projectId + 1 }),
  );
  expect(await nextRunAt(db, projectId)).toBe(now() + 1);
  clock.advance(3);
  const due = (limit: number) => listDueRuns(db, { projectId, now: now(), limit });
  const [third, first, second] = runs as [Run, Run, Run];
  expect(await due(10)).toEqual([first, second, third]);
  expect(await due(2)).toEqual([first, second]);
  expect(await nextRunAt(db, projectId + 2)).toBeNull();
});

test('continues a run whose draft ended, and wakes no other', async () => {
  const [a, paused, timed, over, sister] = [
    run(),
    run({ state: 'paused' }),
    waiting(now() + HOUR),
    endRun(run(), 'exit_event', now()),
    run({ projectId: projectId + 1 }),
  ];
  const all = [a, paused, timed, over, sister];
  await begin(...all);
  const woken = await wakeRuns(db, { projectId, ids: [...ids(all), newId()], at: now() + 5 });
  expect(new Set(woken)).toEqual(new Set(ids([a, paused])));
  expect(await wakeRuns(db, { projectId, ids: [], at: now() })).toEqual([]);
  const after = new Map((await of('u1')).map((run) => [run.id, run]));
  expect(after.get(a.id)).toEqual({ ...a, waitsFor: 'time', nextAt: now() + 5 });
  expect(after.get(paused.id)).toEqual({ ...paused, waitsFor: 'time', nextAt: now() + 5 });
  expect([after.get(timed.id), after.get(over.id)]).toEqual([timed, over]);
  expect(await wakeRuns(db, { projectId, ids: [a.id], at: now() + 9 })).toEqual([]);
});

test('keeps paused runs in place, and makes overdue ones due when they resume', async () => {
  const [mine, other] = [waiting(now() + 1), waiting(now() + 1, { ruleId: newId() })];
  await begin(mine, other, endRun(run(), 'done', now()));
  expect(await pauseRuns(db, projectId, ruleId)).toBe(1);
  expect(await pauseRuns(db, projectId, ruleId)).toBe(0);
  clock.advance(HOUR);
  const due = () => listDueRuns(db, { projectId, now: now(), limit: 10 });
  expect(ids(await due())).toEqual([other.id]);
  expect(await resumeRuns(db, projectId, ruleId)).toBe(1);
  expect(ids(await due())).toEqual(ids([mine, other]));
});

test('counts a version as in use while a run of it is open or waits for its goal', async () => {
  const rules = [ruleId, newId()];
  await db.query(
    `INSERT INTO beckon.rule_version (project_id, rule_id, version, definition, created_at)
     SELECT p, r, v, '{}', now() FROM unnest($1::bigint[]) p, unnest($2::uuid[]) r, generate_series(1, 5) v`,
    [[projectId, projectId + 1], rules],
  );
  const until = now() + HOUR;
  const over = (more: Partial<Run>): Run => endRun(run(more), 'done', now());
  await begin(
    run({ version: 1, state: 'paused' }),
    run({ version: 1 }),
    over({ version: 2, goalUntil: until }),
    over({ version: 3, goalUntil: until, convertedAt: now() }),
    over({ version: 4 }),
    run({ version: 5, projectId: projectId + 1 }),
  );
  const used = (at: number, projects = [projectId, projectId + 1]) => listVersionsInUse(db, projects, at);
  const version = (number: number, project = projectId) => ({ projectId: project, ruleId, version: number });
  expect(await used(until - 1)).toEqual([version(1), version(2), version(5, projectId + 1)]);
  expect(await used(until, [projectId])).toEqual([version(1)]);
});

const draft = (name: string): ProgramStep => ({ kind: 'draft', email: { name } });
const wait = (ms: number): ProgramStep => ({ kind: 'wait', ms });

test('moves runs to another version if both are the same up to their step, and reports the others', async () => {
  const first = compile([draft('a'), wait(1), draft('b')]);
  const second = compile([draft('a'), wait(9), draft('b')]);
  const to = { version: 3, program: compile([draft('a'), wait(1), draft('c'), draft('d')]) };
  const runs = [
    run({ step: 0 }),
    waiting(now() + 1, { step: 1, state: 'paused' }),
    run({ step: 2 }),
    run({ step: 0, version: 2 }),
    waiting(now() + 1, { step: 1, version: 2 }),
    run({ version: 7 }),
  ];
  const others = [
    run({ version: 3 }),
    endRun(run(), 'done', now()),
    run({ ruleId: newId() }),
    run({ projectId: projectId + 1 }),
  ];
  await begin(...runs, ...others);
  const programs = new Map([
    [1, first],
    [2, second],
  ]);
  const move = () => db.transaction((tx) => moveRuns(tx, { projectId, ruleId, to, programs }));
  const stayed = [
    { version: 1, step: 2, runs: 1 },
    { version: 2, step: 1, runs: 1 },
    { version: 7, step: 0, runs: 1 },
  ];
  expect(await move()).toEqual({ moved: 3, stayed });
  const versions = new Map((await of('u1', 100)).map((each) => [each.id, each]));
  expect(runs.map(({ id }) => versions.get(id)?.version)).toEqual([3, 3, 1, 3, 2, 7]);
  // Only the version changes.
  expect(versions.get(runs[1]?.id ?? '')).toEqual({ ...runs[1], version: 3 });
  expect(others.slice(1, 3).map(({ id }) => versions.get(id)?.version)).toEqual([1, 1]);
  expect(await move()).toEqual({ moved: 0, stayed });
});

test('counts runs by rule, state and end reason, and conversions by variant', async () => {
  const other = newId();
  const over = (reason: 'done' | 'goal' | 'holdout', more: Partial<Run> = {}): Run =>
    endRun(run(more), reason, now());
  await begin(
    run(),
    run({ state: 'paused' }),
    over('done', { convertedAt: now() }),
    over('goal', { convertedAt: now() }),
    over('goal', { convertedAt: now() }),
    over('holdout', { variant: 'holdout' }),
    over('holdout', { variant: 'holdout', convertedAt: now() }),
    run({ ruleId: other }),
    run({ projectId: projectId + 1 }),
  );
  expect(await countRuns(db, projectId)).toEqual(
    new Map([
      [ruleId, { active: 1, paused: 1, ended: { done: 1, goal: 2, holdout: 2 } }],
      [other, { active: 1, paused: 0, ended: {} }],
    ]),
  );
  expect(await countLift(db, { projectId, ruleId })).toEqual({
    treatment: { enrolled: 5, converted: 3 },
    holdout: { enrolled: 2, converted: 1 },
  });
});

test('deletes all runs of an erased user', async () => {
  await begin(run(), endRun(run(), 'done', now()), run({ userId: 'u2' }), run({ projectId: projectId + 1 }));
  expect(await eraseRuns(db, { projectId, userId: 'u1' })).toBe(2);
  expect(await eraseRuns(db, { projectId, userId: 'u1' })).toBe(0);
  expect([await of('u1'), await of('u2')]).toMatchObject([[], [{ userId: 'u2' }]]);
  expect(await listRunsOf(db, { projectId: projectId + 1, userId: 'u1', limit: 10 })).toHaveLength(1);
});
