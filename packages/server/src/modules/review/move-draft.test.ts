import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { testSendServices } from '../../../testing/factories/send-services.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { HOUR, MINUTE } from '../../../testing/factories/drafts.ts';
import { openEngine } from '../../../testing/factories/engine.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { idMaker } from '../../platform/ids.ts';
import type { Draft } from '../drafts/draft.ts';
import { listDrafts, listMoves } from '../drafts/reads.ts';
import { listRunsOf } from '../rules/runs/reads.ts';
import type { Run } from '../rules/runs/run.ts';
import { createProject } from '../administration/create-project.ts';
import { createRule } from '../rules/write-rule.ts';
import { type MemberAction, type MoveResult, type ActionAuthor, moveDraft } from './move-draft.ts';
import { moveEach } from './act-on-many.ts';
import { pauseProject } from '../administration/pause-project.ts';
import { setSettings } from '../administration/set-settings.ts';
import { suppress } from '../outcomes/suppressions/suppress.ts';
import { disableRule, enableRule } from '../rules/switch-rule.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);
const newId = idMaker(db.clock);

const SECOND = 1_000;
const UNDO = 10 * SECOND;
const DAY = 24 * HOUR;
const EMAIL = { subject: 'Hello', body: 'Hello {{ user.name | default: "there" }}' };
const SECOND_EMAIL = { subject: 'Again', body: 'Still there?' };
const GREETER = { name: 'greeter', when: { event: 'hello' }, enrollment: { once_per: ['n'] } };

let projectId = 0;
beforeEach(async () => {
  // Starts at noon, far from quiet hours.
  clock.advance((36 * HOUR - (clock.now() % DAY)) % DAY);
  projectId = (await createProject(db, { name: 'Acme' })).id;
  await setSettings(db, projectId, { frequency_cap: 'off', throttle: 'off' });
  engine.transport.setResult({ result: 'sent' });
});

async function make(document: object = {}): Promise<void> {
  const whole = { ...GREETER, steps: [{ draft: EMAIL }], ...document };
  await createRule(db, { projectId, document: whole });
}

async function know(id: string, traits: Record<string, unknown> = {}): Promise<void> {
  const record = { external_user_id: id, email: `${id}@x.org`, traits };
  await putRecords(db, { projectId, kind: 'users', records: [record] });
  await engine.settle();
}

let events = 0;
async function send(id: string, name: string): Promise<void> {
  const record = { external_user_id: id, name, properties: { n: (events += 1) } };
  await putRecords(db, { projectId, kind: 'events', records: [record] });
  await engine.settle();
}

/** Returns a new draft for a user. */
async function greet(id: string, traits: Record<string, unknown> = {}): Promise<Draft> {
  await know(id, traits);
  await send(id, 'hello');
  return newest(id);
}

async function newest(userId: string): Promise<Draft> {
  const [draft] = await listDrafts(db, { ...all, projectId, userId, limit: 1 });
  if (!draft) throw new Error(`there is no draft for ${userId}`);
  return draft;
}
const all = { state: null, ruleId: null, after: null, limit: 1_000 };

const act = (
  { id }: Pick<Draft, 'id'>,
  what: MemberAction,
  by: Partial<ActionAuthor> = {},
): Promise<MoveResult> =>
  moveDraft(
    { db, newId, sendServices: testSendServices() },
    { projectId, draftId: id },
    { act: what, by: { actor: 'ana', ...by } },
  );
async function many(kind: 'approve' | 'skip') {
  const drafts = await listDrafts(db, { ...all, projectId, userId: null });
  const act = kind === 'skip' ? { kind, reason: null } : { kind };
  const open = drafts.filter(({ state }) => state === 'scheduled' || state === 'held');
  const { acted, refused } = await moveEach({ db, newId, sendServices: testSendServices() }, open, {
    act,
    by: { actor: 'ana' },
  });
  return { acted: acted.map(({ draft }) => draft.id), refused: refused.map(({ message }) => message) };
}

const SKIP: MemberAction = { kind: 'skip', reason: null };
const CONFLICT = { code: 'conflict', details: [{ field: 'draft' }] };
const emails = () => engine.transport.emails.filter((email) => email.projectId === projectId);
const sentTo = (): string[] => emails().map(({ userId }) => userId);
async function runOf(userId: string): Promise<Run> {
  const [run] = await listRunsOf(db, { projectId, userId, limit: 1 });
  if (!run) throw new Error(`there is no run of ${userId}`);
  return run;
}

test('sends an approved draft after ten seconds instead of at its deadline', async () => {
  await make();
  const draft = await greet('ada');
  const acted = await act(draft, { kind: 'approve' });
  expect(acted).toMatchObject({
    draft: { state: 'approved', notBefore: clock.now() + UNDO, contentHash: draft.contentHash },
    gate: { passes: true },
  });
  await engine.advance(UNDO - 1);
  expect(sentTo()).toEqual([]);
  await engine.advance(1);
  expect(sentTo()).toEqual(['ada']);
  expect(emails()[0]?.content).toEqual(draft.content);
  await expect(act(draft, { kind: 'approve' })).rejects.toMatchObject(CONFLICT);
});

test('reports the failing send check on approval, and does not bypass it', async () => {
  await make();
  await setSettings(db, projectId, { quiet_hours: '11:00-15:00' });
  const { gate } = await act(await greet('ada'), { kind: 'approve' });
  expect(gate).toMatchObject({ passes: false, reason: 'quiet_hours' });
  const until = gate?.passes === false ? (gate.until ?? 0) : 0;
  expect(until).toBeGreaterThanOrEqual(clock.now() + 3 * HOUR);
  await engine.advance(until - clock.now() - 1);
  expect(sentTo()).toEqual([]);
  expect(await newest('ada')).toMatchObject({
    state: 'held',
    reason: 'quiet_hours',
    resumeState: 'approved',
  });
  await engine.advance(1);
  expect(sentTo()).toEqual(['ada']);

  await pauseProject(db, projectId);
  expect((await act(await greet('bea'), { kind: 'approve' })).gate).toMatchObject({ reason: 'paused' });
});

test('requires a confirmation to approve a draft whose rule no longer holds', async () => {
  await make({ only_if: { trait: 'plan', equals: 'trial' } });
  const draft = await greet('ada', { plan: 'trial' });
  await know('ada', { plan: 'pro' });
  await expect(act(draft, { kind: 'approve' })).rejects.toThrowErrorMatchingInlineSnapshot(
    `[Fault: The condition of the draft's rule no longer holds. Skip the draft, or confirm that it should be sent anyway]`,
  );
  expect(await newest('ada')).toEqual(draft);
  await act(draft, { kind: 'approve', anyway: true });
  expect((await listMoves(db, projectId, draft.id)).at(-1)?.detail).toMatchObject({ send_anyway: true });
  await engine.advance(UNDO);
  expect(sentTo()).toEqual(['ada']);
});

test('cancels an approved draft if its rule does not hold when it is due', async () => {
  await make({ only_if: { trait: 'plan', equals: 'trial' } });
  const draft = await greet('ada', { plan: 'trial' });
  await act(draft, { kind: 'approve' });
  await know('ada', { plan: 'pro' });
  await engine.advance(UNDO);
  expect(sentTo()).toEqual([]);
  expect(await newest('ada')).toMatchObject({ state: 'canceled', reason: 'rule_no_longer_holds' });
});

test('approves the refreshed content, and rejects an approval based on an older text', async () => {
  await make();
  const draft = await greet('ada', { name: 'Ada' });
  await know('ada', { name: 'Grace' });
  const seen = { hash: draft.contentHash };
  await expect(act(draft, { kind: 'approve' }, seen)).rejects.toMatchObject(CONFLICT);
  const refreshed = await newest('ada');
  expect(refreshed).toMatchObject({ state: 'scheduled', content: { body: 'Hello Grace' } });
  const { deadlineAt } = draft;
  expect(refreshed.deadlineAt).toBe(deadlineAt);
  await act(draft, { kind: 'approve' }, { hash: refreshed.contentHash, moves: refreshed.moves });
  await engine.advance(UNDO);
  expect(emails().map(({ content }) => content.body)).toEqual(['Hello Grace']);

  const other = await greet('bea', { name: 'Bea' });
  await know('bea', { name: 'Beatrice' });
  await act(other, { kind: 'approve' });
  await engine.advance(UNDO);
  expect(emails().at(-1)?.content.body).toBe('Hello Beatrice');
});

test('withdraws an approval when a fact changes later, and restarts the deadline', async () => {
  await make();
  const draft = await greet('ada', { name: 'Ada' });
  await act(draft, { kind: 'approve' });
  await know('ada', { name: 'Grace' });
  await engine.advance(UNDO);
  expect(sentTo()).toEqual([]);
  const deadlineAt = clock.now() + 2 * HOUR;
  expect(await newest('ada')).toMatchObject({ state: 'scheduled', reason: 'facts_changed', deadlineAt });
  await engine.advance(2 * HOUR);
  expect(emails()[0]?.content.body).toBe('Hello Grace');
});

test('an edit withdraws the approval, leaves 15 minutes, and fixes the content', async () => {
  await make();
  const draft = await greet('ada', { name: 'Ada' });
  await engine.advance(2 * HOUR - MINUTE);
  await act(draft, { kind: 'approve' });
  const content = { subject: 'Mine', preheader: '', body: 'Dear Ada', format: 'markdown' as const };
  const { draft: edited, gate } = await act(draft, { kind: 'edit', content });
  expect(gate).toBeNull();
  expect(edited).toMatchObject({ state: 'scheduled', isEdited: true, deadlineAt: clock.now() + 15 * MINUTE });
  await know('ada', { name: 'Grace' });
  await engine.advance(15 * MINUTE);
  expect(emails()).toMatchObject([{ content }]);
});

test('postpones a draft only within its limits, and sends it at that time', async () => {
  await make();
  const draft = await greet('ada');
  const [deadlineAt, expiresAt] = [draft.deadlineAt ?? 0, draft.expiresAt ?? 0];
  const invalid = { code: 'validation_failed', details: [{ field: 'until' }] };
  for (const until of [clock.now(), deadlineAt - 1, expiresAt + 1]) {
    await expect(act(draft, { kind: 'postpone', until })).rejects.toMatchObject(invalid);
  }
  const later = { kind: 'postpone', until: expiresAt + HOUR, extend: true } as const;
  expect((await act(draft, later)).draft).toMatchObject({ deadlineAt: expiresAt + HOUR });
  await engine.advance(expiresAt + HOUR - clock.now() - 1);
  expect(sentTo()).toEqual([]);
  // The time is noon, three days later, so no quiet hours apply.
  await engine.advance(1);
  expect(sentTo()).toEqual(['ada']);
});

test('postponing hides a draft that waits for review until the given time', async () => {
  await make({ mode: 'draft' });
  const draft = await greet('ada');
  const until = clock.now() + 3 * HOUR;
  expect((await act(draft, { kind: 'postpone', until })).draft).toMatchObject({
    state: 'held',
    reason: 'postponed',
    deadlineAt: null,
  });
  await engine.advance(3 * HOUR);
  expect(await newest('ada')).toMatchObject({ state: 'scheduled', reason: null, deadlineAt: null });
  expect(sentTo()).toEqual([]);
});

test('undoes a skip within ten seconds, and the run waits for the draft again', async () => {
  await make({ steps: [{ draft: EMAIL }, { draft: SECOND_EMAIL }] });
  const draft = await greet('ada');
  await act(draft, SKIP);
  await engine.advance(UNDO - 1);
  const { draft: back } = await act(draft, { kind: 'undo' });
  expect(back).toMatchObject({ state: 'scheduled', deadlineAt: draft.deadlineAt, endedAt: null });
  await engine.advance(HOUR);
  expect(await runOf('ada')).toMatchObject({ waitsFor: 'draft', step: 0 });
  await engine.advance(HOUR);
  expect(emails().map(({ content }) => content.subject)).toEqual(['Hello']);
  expect(await newest('ada')).toMatchObject({ content: { subject: 'Again' }, createdAt: draft.deadlineAt });
});

test('continues the run exactly when a skip becomes final, and rejects a later undo', async () => {
  await make({ steps: [{ draft: EMAIL }, { wait: '1h' }, { draft: SECOND_EMAIL }] });
  const draft = await greet('ada');
  await act(draft, SKIP);
  await engine.advance(UNDO - 1);
  expect(await runOf('ada')).toMatchObject({ step: 0 });
  await engine.advance(1);
  // Waits count from that time.
  expect(await runOf('ada')).toMatchObject({ step: 1, waitsFor: 'time', nextAt: clock.now() + HOUR });
  await expect(act(draft, { kind: 'undo' })).rejects.toMatchObject(CONFLICT);
  await engine.advance(HOUR);
  expect((await newest('ada')).content.subject).toBe('Again');
});

test('rejects the undo of a skip after the run has ended', async () => {
  await make({ exits: { events: ['bye'] } });
  const draft = await greet('ada');
  await act(draft, SKIP);
  await send('ada', 'bye');
  await expect(act(draft, { kind: 'undo' })).rejects.toThrowErrorMatchingInlineSnapshot(
    `[Fault: The run of the user ended or reached a later step, so the draft stays skipped]`,
  );
  const other = await greet('bea');
  await act(other, SKIP);
  const suppression = { kind: 'user', value: 'bea', reason: 'manual', until: null } as const;
  await suppress(db, { projectId, ...suppression, actor: 'ana' });
  await expect(act(other, { kind: 'undo' })).rejects.toMatchObject(CONFLICT);
  await engine.advance(DAY);
  expect(sentTo()).toEqual([]);
  expect(await newest('bea')).toMatchObject({ state: 'skipped' });
});

test('undoes an approval until the email is claimed, but not later', async () => {
  await make();
  await setSettings(db, projectId, { quiet_hours: '11:00-15:00' });
  const draft = await greet('ada');
  await act(draft, { kind: 'approve' });
  await engine.advance(HOUR);
  // A send check holds the draft, so it is not claimed yet.
  const { draft: back } = await act(draft, { kind: 'undo' });
  expect(back).toMatchObject({ state: 'held', resumeState: 'scheduled', deadlineAt: draft.deadlineAt });
  await expect(act(draft, { kind: 'undo' })).rejects.toThrowErrorMatchingInlineSnapshot(
    `[Fault: The draft has nothing to undo, because its last action was not an approval, a skip or a postponement]`,
  );

  await setSettings(db, projectId, { quiet_hours: 'off' });
  const other = await greet('bea');
  let refusal: unknown = null;
  engine.transport.setResult(async () => {
    refusal = await act(other, { kind: 'undo' }).catch((error: unknown) => error);
    return { result: 'sent' };
  });
  await act(other, { kind: 'approve' });
  await engine.advance(UNDO);
  expect(refusal).toMatchObject(CONFLICT);
});

test('undoes an approval from an open editor to the state before the editor was opened', async () => {
  await make();
  const draft = await greet('ada');
  await act(draft, { kind: 'approve' });
  await act(draft, { kind: 'open_editor' });
  await act(draft, { kind: 'approve' });
  expect((await act(draft, { kind: 'undo' })).draft).toMatchObject({ state: 'approved', reason: null });

  await setSettings(db, projectId, { quiet_hours: '11:00-15:00' });
  const other = await greet('bea');
  await act(other, { kind: 'open_editor' });
  await act(other, { kind: 'approve' });
  await engine.advance(UNDO);
  const undone = { state: 'held', reason: 'quiet_hours', resumeState: 'scheduled' };
  expect((await act(other, { kind: 'undo' })).draft).toMatchObject(undone);
});

test('resends a failed email once, as a new draft that passes all send checks', async () => {
  await make();
  engine.transport.setResult({ result: 'failed', reason: 'relay_rejected' });
  const draft = await greet('ada');
  await engine.advance(2 * HOUR);
  expect(await newest('ada')).toMatchObject({ state: 'failed' });
  engine.transport.setResult({ result: 'sent' });
  const { draft: made, gate } = await act(draft, { kind: 'send_again' });
  expect(made).toMatchObject({ resendOf: draft.id, state: 'approved' });
  expect(gate).toEqual({ passes: true });
  await expect(act(draft, { kind: 'send_again' })).rejects.toMatchObject({
    code: 'conflict',
    details: [{ field: 'draft', message: expect.stringContaining(made.id) as string }],
  });
  await engine.advance(UNDO);
  expect(emails().map(({ draftId }) => draftId)).toEqual([draft.id, made.id]);
  await expect(act(made, { kind: 'send_again' })).rejects.toMatchObject(CONFLICT);
});

test('requires a confirmation to resend an email that may have been delivered', async () => {
  await make({ only_if: { not: { trait: 'plan', equals: 'pro' } } });
  engine.transport.setResult({ result: 'unknown', reason: 'lost' });
  const draft = await greet('ada');
  await engine.advance(2 * HOUR);
  await expect(act(draft, { kind: 'send_again' })).rejects.toThrowErrorMatchingInlineSnapshot(
    `[Fault: The email may have arrived, and the user would get it twice. Confirm that you want to send it again]`,
  );
  await know('ada', { plan: 'pro' });
  const again = { kind: 'send_again', confirmed: true } as const;
  await expect(act(draft, again)).rejects.toMatchObject(CONFLICT);
  await know('ada', { plan: 'trial' });
  expect((await act(draft, again)).draft).toMatchObject({ resendOf: draft.id });
});

test('rejects the second of two actions that were decided on the same draft', async () => {
  await make();
  const { moves, contentHash: hash, ...draft } = await greet('ada');
  const both = await Promise.allSettled([
    act(draft, { kind: 'approve' }, { moves }),
    act(draft, SKIP, { moves, actor: 'bob' }),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refused = both.find(({ status }) => status === 'rejected');
  expect(refused).toMatchObject({ reason: CONFLICT });

  const other = await greet('bea');
  await act(other, { kind: 'edit', content: { ...other.content, body: 'Other' } });
  await expect(act(other, { kind: 'approve' }, { hash })).rejects.toMatchObject(CONFLICT);
  await act(other, { kind: 'open_editor' }, { actor: 'bob' });
  await expect(act(other, SKIP)).rejects.toMatchObject(CONFLICT);
});

test('returns not_found for an invalid id and for a draft of another project', async () => {
  await make();
  const draft = await greet('ada');
  const missing = { code: 'not_found', details: [{ field: 'draft' }] };
  await expect(act({ id: 'nothing' }, SKIP)).rejects.toMatchObject(missing);
  await expect(act({ id: newId() }, SKIP)).rejects.toMatchObject(missing);
  const ref = { projectId: (await createProject(db, { name: 'Other' })).id, draftId: draft.id };
  const by = { actor: 'ana' };
  await expect(
    moveDraft({ db, newId, sendServices: testSendServices() }, ref, { act: SKIP, by }),
  ).rejects.toMatchObject(missing);
});

test('moveEach › moves each draft, and reports those that must be decided one by one', async () => {
  await make();
  const [ada, bea] = [await greet('ada'), await greet('bea')];
  await act(await greet('cid'), { kind: 'open_editor' }, { actor: 'bob' });
  const later = { kind: 'postpone', until: clock.now() + HOUR } as const;
  await setSettings(db, projectId, { autopilot: 'draft' });
  const postponed = await greet('dan');
  await act(postponed, later);
  const result = await many('approve');
  expect(result.acted.sort()).toEqual([ada.id, bea.id].sort());
  expect(result.refused.sort()).toMatchObject([
    expect.stringContaining('postponed') as string,
    expect.stringContaining('bob') as string,
  ]);
  await engine.advance(UNDO);
  expect(sentTo().sort()).toEqual(['ada', 'bea']);
  // A postponed draft can be skipped with the others.
  expect((await many('skip')).acted).toEqual([postponed.id]);
});

test('holds an approved draft of a disabled rule until the rule is enabled', async () => {
  await make();
  const draft = await greet('ada');
  await disableRule(db, { projectId, reference: 'greeter', actor: 'ana' });
  expect((await act(draft, { kind: 'approve' })).gate).toMatchObject({ passes: false, reason: 'rule_off' });
  await engine.advance(HOUR);
  expect(await newest('ada')).toMatchObject({ state: 'held', reason: 'rule_off', resumeState: 'approved' });
  const by = { projectId, reference: 'greeter', actor: 'ana', confirmed: false };
  expect(await enableRule(db, by)).toMatchObject({ resumed: 1, expired: 0 });
  await engine.advance(30 * MINUTE);
  expect(sentTo()).toEqual(['ada']);
});

test('a resent email does not move its run, which already continued', async () => {
  await make({ steps: [{ draft: EMAIL }, { draft: SECOND_EMAIL }] });
  engine.transport.setResult({ result: 'failed', reason: 'relay_rejected' });
  const draft = await greet('ada');
  await engine.advance(2 * HOUR);
  const { draft: made } = await act(draft, { kind: 'send_again' });
  await act(made, SKIP);
  await engine.advance(UNDO - 1);
  await act(made, { kind: 'undo' });
  await act(made, SKIP);
  await engine.advance(HOUR);
  expect(await runOf('ada')).toMatchObject({ step: 1, waitsFor: 'draft' });
});

test('a resent email is not the draft that its run waits for', async () => {
  await make({ steps: [{ draft: EMAIL }, { draft: SECOND_EMAIL }, { wait: '1h' }] });
  engine.transport.setResult({ result: 'failed', reason: 'relay_rejected' });
  const draft = await greet('ada');
  await engine.advance(2 * HOUR);
  engine.transport.setResult({ result: 'sent' });
  await act(draft, { kind: 'send_again' });
  await engine.advance(UNDO);
  expect(emails()).toHaveLength(2);
  expect(await runOf('ada')).toMatchObject({ step: 1, waitsFor: 'draft' });
  await engine.advance(2 * HOUR - UNDO);
  expect(await runOf('ada')).toMatchObject({ step: 2, waitsFor: 'time', nextAt: clock.now() + HOUR });
});

test('sends a draft on time if it is approved while the sender is running', async () => {
  await make();
  await greet('ada');
  clock.advance(HOUR);
  const draft = await greet('bea');
  clock.advance(HOUR);
  // Ada's draft is due. The sender checks the project between the approval and its commit.
  let batch: Promise<unknown> = Promise.resolve();
  const between: typeof db.transaction = (work) =>
    db.transaction(async (tx) => {
      const result = await work(tx);
      batch = engine.sender.batch(projectId);
      await Promise.race([batch, untilSomebodyWaits()]);
      return result;
    });
  const deps = { db: { ...db, transaction: between }, newId, sendServices: testSendServices() };
  const approving = { act: { kind: 'approve' }, by: { actor: 'ana' } } as const;
  await moveDraft(deps, { projectId, draftId: draft.id }, approving);
  await batch;
  expect(sentTo()).toEqual(['ada']);
  await engine.advance(UNDO);
  expect(sentTo()).toEqual(['ada', 'bea']);
});

async function untilSomebodyWaits(): Promise<void> {
  for (let waits = 0; waits === 0;) {
    const rows = await db.query<{ waits: number }>(
      `SELECT count(*)::int AS waits FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    waits = rows[0]?.waits ?? 1;
  }
}
