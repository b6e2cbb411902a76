import { expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { draftFacts, HOUR, MINUTE } from '../../../testing/factories/drafts.ts';
import { canonicalJson } from '../../platform/text/canonical-json.ts';
import { sha256 } from '../../platform/crypto/hash.ts';
import { idMaker } from '../../platform/ids.ts';
import { approve, skip } from '../review/approve-draft.ts';
import { cancel, hold, holdOrCancelUnmatched } from './hold-draft.ts';
import { claim, finish } from '../delivery/send-draft.ts';
import { countForLadder, countToRelease } from './counts.ts';
import { type Draft, isExpired } from './draft.ts';
import { edit } from './edit-draft.ts';
import { eraseDrafts, writeTransitions } from './store.ts';
import {
  findDraft,
  listDrafts,
  listDueDrafts,
  listOpenDrafts,
  listOpenOfPeople,
  listOpenOfRuns,
  lockDraft,
  nextDraftDueAt,
} from './reads.ts';
import type { DraftChange } from './transitions.ts';
import { newDraft, type NewDraft } from './new-draft.ts';
import { orThrow } from './refusals.ts';
import { takeTeamDigest } from '../review/team-digest.ts';
import { findTeamDigestTimes } from '../review/send-team-digest.ts';
import { findSentAnyway } from '../delivery/evaluate.ts';
import { listWaiting } from '../review/digest-reads.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const newId = idMaker(clock);
const T0 = clock.now();

let projects = 100;
function newProject(): number {
  projects += 1;
  return projects;
}

/** Ids follow the clock while all drafts are created at T0, so a later draft has a higher id but the same age. */
function make(projectId: number, changed: Partial<NewDraft> = {}): DraftChange {
  clock.advance(1);
  return newDraft({ ...draftFacts(newId), projectId, now: T0, ...changed });
}
async function stored(projectId: number, changed: Partial<NewDraft> = {}): Promise<Draft> {
  const moved = make(projectId, changed);
  await db.transaction((tx) => writeTransitions(tx, [moved]));
  return moved.draft;
}
async function write(...moved: DraftChange[]): Promise<Draft> {
  await db.transaction((tx) => writeTransitions(tx, moved));
  const last = moved.at(-1);
  if (!last) throw new Error('nothing to write');
  return last.draft;
}
const by = { actor: 'ana', now: T0 };

test('records all moves of one draft written at once and stores the last state', async () => {
  const projectId = newProject();
  const made = make(projectId);
  const held = orThrow(hold(made.draft, { reason: 'paused', until: null, now: T0 }));
  await write(held, made);
  const found = await findDraft(db, projectId, made.draft.id);
  expect(found?.draft).toEqual(held.draft);
  expect(found?.moves.map(({ number, action, reason }) => [number, action, reason])).toEqual([
    [1, 'schedule', null],
    [2, 'hold', 'paused'],
  ]);
});

test('stores an HTML page as such, with another hash than the same text in Markdown', async () => {
  const content = { subject: 'Hello', preheader: '', body: '<p>Hi</p>', format: 'html' as const };
  const page = make(newProject(), { content });
  const same = make(newProject(), { content: { ...content, format: 'markdown' } });
  const { projectId, id } = await write(page);
  expect((await findDraft(db, projectId, id))?.draft.content).toEqual(content);
  expect(page.draft.contentHash).not.toBe(same.draft.contentHash);
  const { format: _, ...words } = content;
  expect(same.draft.contentHash).toBe(sha256(canonicalJson(words)));
});

test('fails when another transaction has changed the draft, and stores nothing', async () => {
  const projectId = newProject();
  const draft = await stored(projectId);
  const other = make(projectId, { userId: 'bystander' });
  const approved = await write(orThrow(approve(draft, by)));
  await expect(write(other, orThrow(skip(draft, { ...by, reason: null })))).rejects.toThrow();
  expect((await findDraft(db, projectId, draft.id))?.draft).toEqual(approved);
  expect(await findDraft(db, projectId, other.draft.id)).toBeUndefined();
});

test('lists due drafts, the longest overdue first, up to the limit and without locked ones', async () => {
  const projectId = newProject();
  const late = await stored(projectId, { autopilotMs: 3 * HOUR });
  const soon = await stored(projectId, { autopilotMs: HOUR });
  await stored(projectId, { autopilotMs: null });
  await stored(newProject(), { autopilotMs: MINUTE });
  const due = { projectId, now: T0 + 3 * HOUR, limit: 10 };
  const ids = async (query = due): Promise<string[]> =>
    db.transaction(async (tx) => (await listDueDrafts(tx, query)).map(({ id }) => id));
  expect(await nextDraftDueAt(db, projectId)).toBe(T0 + HOUR);
  expect(await ids()).toEqual([soon.id, late.id]);
  expect(await ids({ ...due, limit: 1 })).toEqual([soon.id]);
  expect(await ids({ ...due, now: T0 + HOUR - 1 })).toEqual([]);
  await db.transaction(async (tx) => {
    expect((await lockDraft(tx, projectId, soon.id))?.id).toBe(soon.id);
    expect(await ids()).toEqual([late.id]);
  });
  expect(await nextDraftDueAt(db, newProject())).toBeNull();
});

test('finds open drafts by user, run, rule and project, and no ended ones', async () => {
  const projectId = newProject();
  const ruleId = newId();
  const ada = await stored(projectId, { userId: 'ada', ruleId });
  const bob = await stored(projectId, { userId: 'bob' });
  const gone = await stored(projectId, { userId: 'ada', ruleId });
  await write(orThrow(cancel(gone, { reason: 'goal', now: T0 })));
  await stored(newProject(), { userId: 'ada' });
  const people = [
    { projectId, userId: 'bob' },
    { projectId, userId: 'ada' },
  ];
  const ids = (drafts: Draft[]): string[] => drafts.map(({ id }) => id);
  expect(ids(await listOpenOfPeople(db, people))).toEqual([ada.id, bob.id]);
  const run = { projectId, userId: 'ada', runId: ada.runId ?? '' };
  expect(ids(await listOpenOfRuns(db, [run, { ...run, userId: 'bob' }]))).toEqual([ada.id]);
  const all = { projectId, ruleId: null, after: null, limit: 10 };
  expect(ids(await listOpenDrafts(db, all))).toEqual([ada.id, bob.id]);
  expect(ids(await listOpenDrafts(db, { ...all, ruleId }))).toEqual([ada.id]);
  expect(ids(await listOpenDrafts(db, { ...all, after: ada.id }))).toEqual([bob.id]);
});

test('lists drafts by state, rule and user, newest first and page by page', async () => {
  const projectId = newProject();
  const first = await stored(projectId, { userId: 'ada' });
  const second = await stored(projectId);
  const third = await write(orThrow(skip(await stored(projectId), { ...by, reason: 'no' })));
  const all = { projectId, state: null, ruleId: null, userId: null, after: null, limit: 10 };
  const ids = async (filter: object): Promise<string[]> =>
    (await listDrafts(db, { ...all, ...filter })).map(({ id }) => id);
  expect(await ids({})).toEqual([third.id, second.id, first.id]);
  expect(await ids({ limit: 1, after: third.id })).toEqual([second.id]);
  expect(await ids({ state: 'scheduled' })).toEqual([second.id, first.id]);
  expect(await ids({ state: 'skipped' })).toEqual([third.id]);
  expect(await ids({ ruleId: second.ruleId })).toEqual([second.id]);
  expect(await ids({ userId: 'ada' })).toEqual([first.id]);
});

test('deletes drafts and moves of an erased user and keeps those of others', async () => {
  const projectId = newProject();
  const ada = await stored(projectId, { userId: 'ada' });
  await stored(projectId, { userId: 'ada' });
  const bob = await stored(projectId, { userId: 'bob' });
  expect(await eraseDrafts(db, { projectId, userId: 'ada' })).toBe(2);
  expect(await findDraft(db, projectId, ada.id)).toBeUndefined();
  const moves = await db.query<{ id: string }>(
    `SELECT draft_id AS id FROM beckon.draft_move WHERE project_id = $1`,
    [projectId],
  );
  expect(moves).toEqual([{ id: bob.id }]);
});

test('reports a draft as sent anyway until it is approved in another way', async () => {
  const projectId = newProject();
  const edited = orThrow(
    edit(await stored(projectId), { subject: 'a', preheader: '', body: 'b', format: 'markdown' }, by),
  );
  const review = orThrow(holdOrCancelUnmatched(edited.draft, { now: T0 }));
  const anyway = orThrow(approve(review.draft, { ...by, anyway: true }));
  const draft = await write(edited, review, anyway);
  const plain = await write(orThrow(approve(await stored(projectId), by)));
  expect(await findSentAnyway(db, [draft, plain])).toEqual(new Set([draft.id]));
  const again = orThrow(edit(draft, { subject: 'a', preheader: '', body: 'c', format: 'markdown' }, by));
  await write(again, orThrow(approve(again.draft, by)));
  expect(await findSentAnyway(db, [draft, plain])).toEqual(new Set());
});

test('counts the last twenty drafts that members could have touched, by what they did', async () => {
  const projectId = newProject();
  const ruleId = newId();
  async function end(at: number, outcome: 'sent' | 'edited' | 'skipped' | 'canceled'): Promise<void> {
    const made = make(projectId, { ruleId, autopilotMs: MINUTE });
    const now = T0 + HOUR + at;
    if (outcome === 'skipped')
      return void (await write(made, orThrow(skip(made.draft, { actor: 'ana', now, reason: null }))));
    if (outcome === 'canceled')
      return void (await write(made, orThrow(cancel(made.draft, { reason: 'exit_event', now }))));
    const edited =
      outcome === 'edited'
        ? [orThrow(edit(made.draft, { subject: 's', preheader: '', body: 'b', format: 'markdown' }, by))]
        : [];
    const claimed = orThrow(claim(edited[0]?.draft ?? made.draft, { now }));
    await write(made, ...edited, claimed, orThrow(finish(claimed.draft, { result: 'sent' }, { now })));
  }
  await end(0, 'skipped');
  for (let at = 1; at <= 17; at += 1) await end(at, 'sent');
  for (const outcome of ['edited', 'skipped', 'canceled', 'edited'] as const) await end(20, outcome);
  expect(await countForLadder(db, projectId, ruleId)).toEqual({ untouched: 17, edited: 2, skipped: 1 });
  expect(await countForLadder(db, projectId, newId())).toEqual({ untouched: 0, edited: 0, skipped: 0 });
});

test('counts the effects of a release in the same way as the transitions decide it', async () => {
  const projectId = newProject();
  const now = T0 + 75 * HOUR;
  const all = [
    await stored(projectId),
    await stored(projectId, { autopilotMs: null }),
    await stored(projectId, { autopilotMs: 74 * HOUR + MINUTE }),
    await stored(projectId, { endsAt: T0 + 80 * HOUR, autopilotMs: null }),
    await stored(projectId, { endsAt: now, autopilotMs: null }),
  ];
  for (const autopilotMs of [50 * HOUR, 74 * HOUR + 5 * MINUTE]) {
    const made = await stored(projectId, { autopilotMs });
    all.push(await write(orThrow(hold(made, { reason: 'domain_not_ready', until: null, now: T0 }))));
  }
  const approved = await write(orThrow(approve(await stored(projectId, { autopilotMs: 100 * HOUR }), by)));
  all.push(await write(orThrow(hold(approved, { reason: 'paused', until: null, now: T0 }))));
  const expired = all.filter((draft) => isExpired(draft, now)).length;
  expect(expired).toBe(2);
  expect(await countToRelease(db, { projectId, reason: null, now })).toEqual({
    open: 8,
    expired,
    overdue: 4,
    held: 3,
    longHeld: 3,
  });
  expect(await countToRelease(db, { projectId, reason: 'domain_not_ready', now })).toMatchObject({
    open: 2,
    longHeld: 1,
  });
});

test('lists by rule the drafts that wait for the team, and how many are new', async () => {
  const projectId = newProject();
  const [welcome, stall] = [newId(), newId()];
  for (const [id, name] of [
    [welcome, 'welcome'],
    [stall, 'onboarding_stall'],
  ]) {
    await db.query(
      `INSERT INTO beckon.rule (project_id, id, name, version, mode, created_at, updated_at)
       VALUES ($1, $2, $3, 1, 'autopilot', $4, $4)`,
      [projectId, id, name, new Date(T0)],
    );
  }
  const late = await stored(projectId, { ruleId: welcome });
  const soon = await stored(projectId, { ruleId: welcome, autopilotMs: HOUR, now: T0 + MINUTE });
  const quiet = await stored(projectId, { ruleId: welcome });
  await write(orThrow(hold(quiet, { reason: 'quiet_hours', until: T0 + HOUR, now: T0 })));
  const held = await stored(projectId, { ruleId: stall, hasAddress: false });
  expect(late.deadlineAt).toBeGreaterThan(soon.deadlineAt ?? 0);
  const waiting = await listWaiting(db, { projectId, since: 0, until: T0 + MINUTE });
  expect(waiting).toEqual([
    { rule: 'onboarding_stall', waiting: 0, held: 1, fresh: 1, earliestDeadlineAt: null, firstId: held.id },
    { rule: 'welcome', waiting: 2, held: 0, fresh: 2, earliestDeadlineAt: soon.deadlineAt, firstId: soon.id },
  ]);
  const later = await listWaiting(db, { projectId, since: T0, until: T0 + MINUTE });
  expect(later.map(({ fresh }) => fresh)).toEqual([0, 1]);
  const early = await listWaiting(db, { projectId, since: 0, until: T0 });
  expect(early.map(({ waiting }) => waiting)).toEqual([0, 1]);
});

test('lets one of several processes notify the team in 15 minutes', async () => {
  const projectId = newProject();
  expect(await findTeamDigestTimes(db, projectId)).toEqual({ sentAt: null, reportedUntil: null });
  const first = await Promise.all([takeTeamDigest(db, projectId, T0), takeTeamDigest(db, projectId, T0)]);
  expect(first.toSorted()).toEqual([false, true]);
  expect(await takeTeamDigest(db, projectId, T0 + 15 * MINUTE - 1)).toBe(false);
  expect(await takeTeamDigest(db, projectId, T0 + 15 * MINUTE)).toBe(true);
  expect(await findTeamDigestTimes(db, projectId)).toEqual({ sentAt: T0 + 15 * MINUTE, reportedUntil: null });
});
