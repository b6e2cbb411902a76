import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { testSendServices } from '../../../testing/factories/send-services.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { HOUR, MINUTE } from '../../../testing/factories/drafts.ts';
import { openEngine } from '../../../testing/factories/engine.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { idMaker } from '../../platform/ids.ts';
import type { Draft } from '../drafts/draft.ts';
import { listDrafts } from '../drafts/reads.ts';
import { getSettings } from '../workspace/projects/project-settings.ts';
import { takeSendLock } from '../sending/emails/lock-store.ts';
import { listRunsOf } from '../rules/runs/reads.ts';
import { createProject } from './create-project.ts';
import { createRule } from '../rules/write-rule.ts';
import { type MemberAction, moveDraft } from '../review/move-draft.ts';
import { pauseProject, previewResume, resumeProject } from './pause-project.ts';
import { setSettings } from './set-settings.ts';
import { disableRule, enableRule } from '../rules/switch-rule.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);
const newId = idMaker(db.clock);

const DAY = 24 * HOUR;
const QUARTER = 15 * MINUTE;
const SPREAD = 30 * MINUTE;
const EMAIL = { subject: 'Hello', body: 'Hello' };
const GREETER = { name: 'greeter', when: { event: 'hello' }, steps: [{ draft: EMAIL }] };

let projectId = 0;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
  await setSettings(db, projectId, { quiet_hours: 'off', frequency_cap: 'off', throttle: 'off' });
  engine.transport.setResult({ result: 'sent' });
});

const make = (more: object = {}) => createRule(db, { projectId, document: { ...GREETER, ...more } });

/** Returns new drafts for these users. */
async function greet(...ids: string[]): Promise<Draft[]> {
  const users = ids.map((id) => ({ external_user_id: id, email: `${id}@x.org` }));
  await putRecords(db, { projectId, kind: 'users', records: users });
  const events = ids.map((id) => ({ external_user_id: id, name: 'hello', properties: {} }));
  await putRecords(db, { projectId, kind: 'events', records: events });
  await engine.settle();
  return Promise.all(ids.map((id) => draftOf(id)));
}

const drafts = (userId: string | null = null) =>
  listDrafts(db, { projectId, userId, state: null, ruleId: null, after: null, limit: 1_000 });
async function draftOf(userId: string): Promise<Draft> {
  const [draft] = await drafts(userId);
  if (!draft) throw new Error(`there is no draft for ${userId}`);
  return draft;
}
const act = (draft: Draft | undefined, what: MemberAction) =>
  moveDraft(
    { db, newId, sendServices: testSendServices() },
    { projectId, draftId: draft?.id ?? '' },
    { act: what, by: { actor: 'ana' } },
  );
const resume = (confirmed = false) => resumeProject(db, { projectId, actor: 'ana', confirmed });
const sentTo = (): string[] =>
  engine.transport.emails.filter((email) => email.projectId === projectId).map(({ userId }) => userId);

test('sends nothing while a project is paused, and keeps its deadlines', async () => {
  await make();
  const [ada, bea] = await greet('ada', 'bea');
  await act(bea, { kind: 'approve' });
  await pauseProject(db, projectId);
  await engine.advance(DAY);
  expect(sentTo()).toEqual([]);
  expect(await draftOf('ada')).toEqual(ada);
  expect(await draftOf('bea')).toMatchObject({ state: 'approved', deadlineAt: bea?.deadlineAt });
});

test('waits for a running claim before pausing', async () => {
  const order: string[] = [];
  const pausing: Promise<unknown>[] = [];
  for (const pause of [pauseProject, (_: typeof db, id: number) => setSettings(db, id, { paused: 'true' })]) {
    await db.transaction(async (tx) => {
      await takeSendLock(tx, projectId);
      pausing.push(pause(db, projectId).then(() => order.push('paused')));
      await untilSomebodyWaits();
      order.push('claimed');
    });
    await Promise.all(pausing);
  }
  expect(order).toEqual(['claimed', 'paused', 'claimed', 'paused']);
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

test('continues to process and draft while a project is paused', async () => {
  await make({ steps: [{ draft: EMAIL }, { wait: '1h' }, { draft: { ...EMAIL, subject: 'Again' } }] });
  await pauseProject(db, projectId);
  const [draft] = await greet('ada');
  expect(draft).toMatchObject({ state: 'scheduled', deadlineAt: clock.now() + 2 * HOUR });
  await act(draft, { kind: 'skip', reason: null });
  await engine.advance(10_000 + HOUR);
  expect((await draftOf('ada')).content.subject).toBe('Again');
});

test('keeps distant deadlines on resume, and spreads others from 15 minutes on', async () => {
  await make();
  const overdue = await greet('ada', 'bea', 'cid', 'dan');
  await pauseProject(db, projectId);
  await engine.advance(2 * HOUR - QUARTER + 1);
  const [soon] = await greet('eve');
  await engine.advance(HOUR + 50 * MINUTE);
  const [far] = await greet('fay');
  const now = clock.now();
  // Eve's draft is due in less than 15 minutes, and Fay's in two hours.
  expect(soon?.deadlineAt).toBeLessThan(now + QUARTER);
  expect(await resume()).toEqual({ canceled: 0, postponed: 5 });
  for (const { userId, expiresAt } of [...overdue, ...(soon ? [soon] : [])]) {
    const draft = await draftOf(userId);
    expect(draft.deadlineAt).toBeGreaterThanOrEqual(now + QUARTER);
    expect(draft.deadlineAt).toBeLessThan(now + QUARTER + SPREAD);
    expect(draft.expiresAt).toBe(expiresAt);
  }
  expect(new Set((await drafts()).map(({ deadlineAt }) => deadlineAt)).size).toBe(6);
  expect(await draftOf('fay')).toEqual(far);
  await engine.advance(QUARTER - 1);
  expect(sentTo()).toEqual([]);
  await engine.advance(SPREAD + 1);
  expect(sentTo().sort()).toEqual(['ada', 'bea', 'cid', 'dan', 'eve']);
  await engine.advance(2 * HOUR);
  expect(sentTo()).toContain('fay');
});

test('cancels drafts that expired during a pause, and continues their runs', async () => {
  await make({ expires_after: '3h', steps: [{ draft: EMAIL }, { wait: '1h' }] });
  await greet('ada');
  await pauseProject(db, projectId);
  await engine.advance(4 * HOUR);
  await greet('bea');
  await engine.advance(HOUR + QUARTER);
  expect(await draftOf('ada')).toMatchObject({ state: 'scheduled' });
  expect(await previewResume(db, projectId)).toMatchObject({ open: 2, expired: 1, overdue: 0 });
  expect(await resume()).toEqual({ canceled: 1, postponed: 0 });
  expect(await draftOf('ada')).toMatchObject({ state: 'canceled', reason: 'expired' });
  await engine.settle();
  const [run] = await listRunsOf(db, { projectId, userId: 'ada', limit: 1 });
  expect(run).toMatchObject({ step: 1, waitsFor: 'time', nextAt: clock.now() + HOUR });
  await engine.advance(HOUR);
  expect(sentTo()).toEqual(['bea']);
});

test('evaluates resumed drafts again before sending', async () => {
  await make({ only_if: { not: { trait: 'plan', equals: 'pro' } } });
  await greet('ada');
  await pauseProject(db, projectId);
  const records = [{ external_user_id: 'ada', traits: { plan: 'pro' } }];
  await putRecords(db, { projectId, kind: 'users', records });
  await engine.advance(3 * HOUR);
  await resume();
  await engine.advance(HOUR);
  expect(sentTo()).toEqual([]);
  expect(await draftOf('ada')).toMatchObject({ state: 'canceled', reason: 'rule_no_longer_holds' });
});

test('changes nothing when a project that is not paused is resumed', async () => {
  await make();
  const [draft] = await greet('ada');
  await engine.advance(2 * HOUR - MINUTE);
  expect(await previewResume(db, projectId)).toMatchObject({ isPaused: false, needsConfirmation: false });
  expect(await resume()).toEqual({ canceled: 0, postponed: 0 });
  expect(await draftOf('ada')).toEqual(draft);
});

test('the setting `paused` pauses and resumes', async () => {
  await make({ expires_after: '3h' });
  await greet('ada');
  expect(await setSettings(db, projectId, { paused: 'true' })).toMatchObject({ paused: 'true' });
  await engine.advance(4 * HOUR);
  await greet('bea');
  await engine.advance(2 * HOUR);
  expect(sentTo()).toEqual([]);
  // Rejected settings neither resume the project nor change anything.
  const refused = setSettings(db, projectId, { paused: 'false', autopilot: 'soon', throttle: '5/s' });
  await expect(refused).rejects.toMatchObject({
    code: 'validation_failed',
    details: [{ field: 'autopilot' }],
  });
  expect((await getSettings(db, projectId)).texts).toMatchObject({ paused: 'true', throttle: 'off' });
  expect(await draftOf('ada')).toMatchObject({ state: 'scheduled' });

  expect(await setSettings(db, projectId, { paused: 'false', throttle: '5/s' })).toMatchObject({
    paused: 'false',
    throttle: '5/s',
  });
  expect(await draftOf('ada')).toMatchObject({ state: 'canceled', reason: 'expired' });
  expect((await draftOf('bea')).deadlineAt).toBeGreaterThanOrEqual(clock.now() + QUARTER);
  await engine.advance(QUARTER + SPREAD);
  expect(sentTo()).toEqual(['bea']);
  expect(await setSettings(db, projectId, { paused: 'false' })).toMatchObject({ paused: 'false' });
});

test('autopilot=draft removes the deadlines of untouched drafts of all rules', async () => {
  await make();
  await make({ name: 'other' });
  await greet('ada', 'bea');
  const [edited, ...untouched] = await drafts('ada');
  await act(edited, {
    kind: 'edit',
    content: { ...EMAIL, preheader: '', body: 'Mine', format: 'markdown' },
  });
  expect(untouched).toHaveLength(1);
  await setSettings(db, projectId, { autopilot: 'draft' });
  const open = (await drafts()).filter(({ isEdited }) => !isEdited);
  expect(open).toHaveLength(3);
  for (const draft of open) expect(draft).toMatchObject({ deadlineAt: null, autopilotMs: null });
  await engine.advance(3 * HOUR);
  expect(engine.transport.emails.filter((email) => email.projectId === projectId)).toMatchObject([
    { draftId: edited?.id },
  ]);
  // Going back to autopilot applies to new drafts only.
  await setSettings(db, projectId, { autopilot: '1h' });
  await engine.advance(3 * HOUR);
  expect(sentTo()).toHaveLength(1);
  expect((await drafts('ada')).map(({ deadlineAt }) => deadlineAt)).toContain(null);
});

test('previews exactly what happens to the drafts on resume', async () => {
  await make({ expires_after: '3h' });
  await make({ name: 'daily', expires_after: '7d', mode: 'draft' });
  const people = Array.from({ length: 12 }, (_, i) => `u${i}`);
  await greet(...people.slice(0, 6));
  const [approved] = await drafts('u0');
  await act(approved, { kind: 'approve' });
  await act((await drafts('u1')).at(-1), { kind: 'open_editor' });
  await pauseProject(db, projectId);
  await engine.advance(3 * HOUR);
  await greet(...people.slice(6));
  await engine.advance(2 * HOUR + MINUTE);
  const { open, expired, overdue } = await previewResume(db, projectId);
  expect(open).toBe(24);
  expect([expired > 0, overdue > 0]).toEqual([true, true]);
  expect(await resume()).toEqual({ canceled: expired, postponed: overdue });
});

test('an enabled rule releases its drafts as a resumed project does', async () => {
  await make({ expires_after: '3h' });
  const [ada] = await greet('ada');
  const off = () => disableRule(db, { projectId, reference: 'greeter', actor: 'ana' });
  await off();
  expect(await draftOf('ada')).toMatchObject({
    state: 'held',
    reason: 'rule_off',
    deadlineAt: ada?.deadlineAt,
  });
  await engine.advance(4 * HOUR);
  expect(sentTo()).toEqual([]);
  const on = () => enableRule(db, { projectId, reference: 'greeter', actor: 'ana', confirmed: false });
  expect(await on()).toMatchObject({ resumed: 1, expired: 0 });
  const back = await draftOf('ada');
  expect(back.deadlineAt).toBeGreaterThanOrEqual(clock.now() + QUARTER);
  expect(back.expiresAt).toBe(ada?.expiresAt);
  await off();
  await engine.advance(3 * HOUR);
  expect(await on()).toMatchObject({ resumed: 0, expired: 1 });
  expect(await draftOf('ada')).toMatchObject({ state: 'canceled', reason: 'expired' });
});

test('requires a confirmation to resume more than 100 drafts held for over a day', async () => {
  await make();
  await greet(...Array.from({ length: 101 }, (_, i) => `u${i}`));
  await pauseProject(db, projectId);
  await engine.advance(27 * HOUR);
  expect(await previewResume(db, projectId)).toMatchObject({ longHeld: 101, needsConfirmation: true });
  const refusal = { code: 'conflict', details: [{ field: 'confirm' }] };
  await expect(resume()).rejects.toMatchObject(refusal);
  const settings = setSettings(db, projectId, { paused: 'false', throttle: '5/s' });
  await expect(settings).rejects.toMatchObject(refusal);
  expect((await getSettings(db, projectId)).texts).toMatchObject({ paused: 'true', throttle: 'off' });
  expect(await resume(true)).toEqual({ canceled: 0, postponed: 101 });
});

test('does not count approved drafts held by a send check as overdue, because they do not change', async () => {
  await make();
  const [ada] = await greet('ada');
  await act(ada, { kind: 'approve' });
  await setSettings(db, projectId, { quiet_hours: '00:00-23:59' });
  await engine.advance(HOUR);
  await pauseProject(db, projectId);
  expect(await draftOf('ada')).toMatchObject({
    state: 'held',
    reason: 'quiet_hours',
    resumeState: 'approved',
  });
  expect(await previewResume(db, projectId)).toMatchObject({ open: 1, expired: 0, overdue: 0 });
  expect(await resume()).toEqual({ canceled: 0, postponed: 0 });
});

test('moves no deadline earlier on resume, even shortly before the end of the trial that the email is about', async () => {
  await make({
    when: [{ event: 'hello' }, { event: 'trial', ends_in_days: 'days' }],
    deadline: '1h',
  });
  await putRecords(db, {
    projectId,
    kind: 'users',
    records: [{ external_user_id: 'ada', email: 'a@x.org' }],
  });
  const event = { external_user_id: 'ada', name: 'trial', properties: { days: 1 } };
  await putRecords(db, { projectId, kind: 'events', records: [event] });
  await engine.settle();
  const draft = await draftOf('ada');
  const endsAt = draft.endsAt ?? 0;
  expect(endsAt).toBe(clock.now() + DAY);
  await act(draft, { kind: 'postpone', until: endsAt - 5 * MINUTE });
  await pauseProject(db, projectId);
  await engine.advance(DAY - 18 * MINUTE);
  await resume();
  expect((await draftOf('ada')).deadlineAt).toBe(endsAt - 5 * MINUTE);
});
