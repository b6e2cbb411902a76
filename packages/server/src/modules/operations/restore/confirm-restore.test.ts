import { beforeEach, describe, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { HOUR, MINUTE } from '../../../../testing/factories/drafts.ts';
import { openEngine } from '../../../../testing/factories/engine.ts';
import { putRecords } from '../../../../testing/factories/ingest-queue.ts';
import { testHasher, testSendServices } from '../../../../testing/factories/send-services.ts';
import { idMaker } from '../../../platform/ids.ts';
import { silentLog } from '../../../platform/log.ts';
import { countReview, listDraftPage } from '../../review/list-drafts.ts';
import type { Draft } from '../../drafts/draft.ts';
import { listDrafts, listMoves } from '../../drafts/reads.ts';
import { listQueued } from '../../explain/waiting-queue.ts';
import { createPropertyCache } from '../../processing/process.ts';
import { acceptUnchanged, closeGate, confirmRestore } from './confirm-restore.ts';
import { createAudience } from '../../audiences/change-audience.ts';
import { createProject } from '../../administration/create-project.ts';
import { createRule } from '../../rules/write-rule.ts';
import { processTimers } from '../../processing/process-timers.ts';
import { startEnrollment } from '../../rules/enrollment/enroll.ts';
import { createModels } from '../../rules/project-model.ts';
import { type MemberAction, moveDraft } from '../../review/move-draft.ts';
import { pauseProject, resumeProject } from '../../administration/pause-project.ts';
import { carryAcceptance, maySendEmails } from '../../sending/restores/restore-guard.ts';
import { claimBatch } from '../../delivery/claim-batch.ts';
import { roomFor } from '../../delivery/draft-batch.ts';
import { setSettings } from '../../administration/set-settings.ts';
import { suspendProject } from '../../administration/suspend-project.ts';
import { listRuleNeeds } from '../../rules/runs/rules-in-force.ts';

/** A restored database is one whose identity differs from the accepted one. These tests simulate it by revoking the acceptance. */
const clock = fixedClock();
const db = await openTestDatabase(clock);
const carried = await openTestDatabase(clock);
const engine = openEngine(db, clock);
const newId = idMaker(db.clock);
const DAY = 24 * HOUR;
const EMAIL = { subject: 'Hello', body: 'Hello' };

let projectId = 0;
beforeEach(async () => {
  for (const { project_id: id } of await db.query<{ project_id: number }>(
    `SELECT project_id FROM beckon.project`,
  ))
    await db.query(`UPDATE beckon.project SET livemode = false WHERE project_id = $1`, [id]);
  projectId = (await createProject(db, { name: 'Acme' })).id;
  await setSettings(db, projectId, {
    quiet_hours: 'off',
    frequency_cap: 'off',
    throttle: 'off',
    autopilot: '2h',
  });
  await createRule(db, {
    projectId,
    document: { name: 'greeter', when: { event: 'hello' }, steps: [{ draft: EMAIL }] },
  });
  engine.transport.setResult({ result: 'sent' });
});

async function greet(...ids: string[]): Promise<void> {
  const users = ids.map((id) => ({ external_user_id: id, email: `${id}@x.org` }));
  await putRecords(db, { projectId, kind: 'users', records: users });
  const events = ids.map((id) => ({ external_user_id: id, name: 'hello', properties: {} }));
  await putRecords(db, { projectId, kind: 'events', records: events });
  await engine.settle();
}

async function draftOf(userId: string): Promise<Draft> {
  const query = { projectId, userId, state: null, ruleId: null, after: null, limit: 10 };
  const [draft] = await listDrafts(db, query);
  if (!draft) throw new Error(`there is no draft for ${userId}`);
  return draft;
}

async function act(userId: string, what: MemberAction): Promise<unknown> {
  const { id: draftId } = await draftOf(userId);
  const deps = { db, newId, sendServices: testSendServices() };
  return moveDraft(deps, { projectId, draftId }, { act: what, by: { actor: 'ana' } });
}

const confirm = (more: {
  stoppedAt?: number;
  nothingApproved?: boolean;
  dryRun?: boolean;
  restoredTo?: number;
}) =>
  confirmRestore(db, {
    restoredTo: clock.now() - HOUR,
    stoppedAt: null,
    nothingApproved: false,
    dryRun: false,
    actor: 'operator',
    ...more,
  });

const stands = async (...ids: string[]): Promise<unknown[]> =>
  Promise.all(ids.map(async (id) => ((draft) => [draft.state, draft.reason])(await draftOf(id))));

test('claims nothing from a restored database until a member confirms it, whatever is due', async () => {
  await greet('due');
  await closeGate(db);
  clock.advance(3 * HOUR);
  await engine.settle();
  expect(await engine.sender.batch(projectId)).toMatchObject({ drafts: 0, emails: 0 });
  expect(engine.transport.emails).toEqual([]);
  expect(await stands('due')).toEqual([['scheduled', null]]);
  expect(await maySendEmails({ db, log: silentLog, restoreGuard: 'auto' })).toBe(false);
  await acceptUnchanged(db);
  await engine.settle();
  expect(await stands('due')).toEqual([['sent', null]]);
  await expect(acceptUnchanged(db)).rejects.toThrow(/was not restored/);
});

test('judges drafts by the end of the previous server: sent automatically, possibly approved, or not sent', async () => {
  const start = clock.now();
  await greet('due', 'early', 'approved');
  await act('approved', { kind: 'approve' });
  await closeGate(db);
  clock.advance(90 * MINUTE);
  await greet('later', 'waits', 'postponed');
  await act('postponed', { kind: 'postpone', until: clock.now() + 5 * HOUR, extend: true });
  await engine.settle();
  const stoppedAt = start + 2 * HOUR;
  // The previous server kept running until this one was started.
  await db.query(`UPDATE beckon.database_timeline SET seen_at = $1`, [new Date(stoppedAt)]);
  clock.advance(HOUR);
  const dry = await confirm({ restoredTo: start + HOUR, dryRun: true });
  expect(dry).toMatchObject({ unknown: 3, review: 3, unaffected: 0 });
  expect(await stands('due', 'later')).toEqual([
    ['scheduled', null],
    ['scheduled', null],
  ]);
  expect(await confirm({ restoredTo: start + HOUR, dryRun: true, nothingApproved: true })).toMatchObject({
    unknown: 3,
    review: 0,
    unaffected: 3,
  });
  expect(await confirm({ restoredTo: start + HOUR })).toMatchObject({ unknown: 3, review: 3, unaffected: 0 });
  expect(await stands('due', 'early', 'approved', 'later', 'waits', 'postponed')).toEqual([
    ['unknown', 'possibly_sent'],
    ['unknown', 'possibly_sent'],
    ['unknown', 'possibly_sent'],
    ['held', 'restored'],
    ['held', 'restored'],
    ['held', 'restored'],
  ]);
  const { id } = await draftOf('due');
  expect((await listMoves(db, projectId, id)).at(-1)).toMatchObject({
    action: 'mark_unknown_after_restore',
    from: 'scheduled',
    to: 'unknown',
    actor: 'operator',
    reason: 'possibly_sent',
    detail: { stopped_at: new Date(stoppedAt).toISOString() },
  });
  // Only a member can release these drafts, whatever happens to the project.
  await pauseProject(db, projectId);
  await resumeProject(db, { projectId, actor: 'ana', confirmed: true });
  const before = engine.transport.emails.length;
  await engine.advance(24 * HOUR);
  expect(engine.transport.emails).toHaveLength(before);
  await act('later', { kind: 'approve' });
  await engine.advance(MINUTE);
  expect(await stands('later')).toEqual([['sent', null]]);
});

test('holds drafts written since the restore for earlier events, and leaves drafts for later events alone', async () => {
  await closeGate(db);
  const stoppedAt = clock.now();
  await greet('before');
  clock.advance(2 * MINUTE);
  await greet('since');
  await expect(confirm({ stoppedAt: stoppedAt + MINUTE })).rejects.toThrow(/has been separate since/);
  expect(await confirm({ stoppedAt })).toMatchObject({ unknown: 0, review: 1, unaffected: 1 });
  expect(await stands('before', 'since')).toEqual([
    ['held', 'restored'],
    ['scheduled', null],
  ]);
});

test('rejects impossible times, and a confirmation before processing has caught up', async () => {
  await closeGate(db);
  await expect(confirm({ restoredTo: clock.now() + HOUR })).rejects.toThrow(/later than the end/);
  const users = [{ external_user_id: 'x', email: 'x@x.org' }];
  await putRecords(db, { projectId, kind: 'users', records: users });
  await expect(confirm({})).rejects.toThrow(/has not processed all records/);
  await engine.settle();
  await confirm({});
  await expect(confirm({})).rejects.toThrow(/was not restored/);
});

test('requires a suspended project to catch up too, because its emails are sent when it resumes', async () => {
  await closeGate(db);
  await suspendProject(db, projectId);
  await putRecords(db, { projectId, kind: 'users', records: [{ external_user_id: 'x', email: 'x@x.org' }] });
  await expect(confirm({})).rejects.toThrow(/has not processed all records/);
});

test('records a failover and allows sending without confirmation, unless an operator closed the gate', async () => {
  await closeGate(db);
  expect(await maySendEmails({ db, log: silentLog, restoreGuard: 'manual' })).toBe(false);
  // The same holds after a standby has taken over, which counts as another place.
  await db.query(`UPDATE beckon.database_timeline SET system_id = 'before'`);
  expect(await maySendEmails({ db, log: silentLog, restoreGuard: 'manual' })).toBe(false);
  await acceptUnchanged(db);
  expect(await maySendEmails({ db, log: silentLog, restoreGuard: 'manual' })).toBe(true);
  await db.query(`DELETE FROM beckon.database_timeline`);
  expect(await maySendEmails({ db, log: silentLog, restoreGuard: 'manual' })).toBe(true);
  expect(await db.query(`SELECT accepted_as FROM beckon.database_timeline`)).toEqual([
    { accepted_as: 'failover' },
  ]);
});

test('accepts a database copied to another cluster only if it was accepted before', async () => {
  const from = carried;
  await closeGate(db);
  await closeGate(from);
  await carryAcceptance({ from, to: db });
  expect(await db.query(`SELECT accepted_as FROM beckon.database_timeline`)).toEqual([{ accepted_as: null }]);
  await acceptUnchanged(from);
  await carryAcceptance({ from, to: db });
  expect(await db.query(`SELECT accepted_as FROM beckon.database_timeline`)).toEqual([
    { accepted_as: 'upgraded' },
  ]);
});

test('does not release an email claimed at the time of the restore, because it may have been sent a moment later', async () => {
  await greet('claimed');
  clock.advance(3 * HOUR);
  const deps = { db, newId, models: createModels(clock), sendServices: testSendServices(), togetherMs: 0 };
  expect((await claimBatch(deps, projectId, roomFor(10))).emails).toHaveLength(1);
  await closeGate(db);
  clock.advance(HOUR);
  expect(await engine.sender.giveUp()).toBe(0);
  expect(await stands('claimed')).toEqual([['sending', null]]);
  expect(await confirm({ stoppedAt: clock.now() - HOUR, restoredTo: clock.now() - 2 * HOUR })).toMatchObject({
    unknown: 1,
    review: 0,
    unaffected: 0,
  });
  await engine.advance(24 * HOUR);
  expect(await stands('claimed')).toEqual([['unknown', 'possibly_sent']]);
});

test('holds drafts that time alone creates again: an audience join, an approaching date', async () => {
  const audience = await createAudience(
    { db, listRuleNeeds },
    {
      projectId,
      name: 'Away',
      definition: { not: { event: 'hello', at_least: 1, within: '7d' } },
    },
  );
  await createRule(db, {
    projectId,
    document: { name: 'away', when: { audience: audience.id, move: 'joined' }, steps: [{ draft: EMAIL }] },
  });
  await createRule(db, {
    projectId,
    document: {
      name: 'renewal',
      when: { relative_to: { trait: 'renewalDate' }, before: '7d' },
      steps: [{ draft: EMAIL }],
    },
  });
  await greet('ana');
  await act('ana', { kind: 'skip', reason: 'other' });
  const traits = { renewalDate: new Date(clock.now() + 14 * DAY).toISOString() };
  const users = [{ external_user_id: 'bob', email: 'bob@x.org', traits }];
  await putRecords(db, { projectId, kind: 'users', records: users });
  await engine.settle();
  const restoredTo = clock.now();
  clock.advance(8 * DAY);
  await closeGate(db);
  const stoppedAt = clock.now();
  clock.advance(MINUTE);
  await engine.settle();
  expect(await stands('ana', 'bob')).toEqual([
    ['scheduled', null],
    ['scheduled', null],
  ]);
  expect(await confirm({ restoredTo, stoppedAt })).toMatchObject({ review: 2, unaffected: 0 });
});

describe('confirmRestore during an enrollment', () => {
  test('refuses until it has ended, and then holds the drafts of all its users', async () => {
    const users = ['u1', 'u2', 'u3'];
    const records = users.map((id) => ({
      external_user_id: id,
      email: `${id}@x.org`,
      traits: { plan: 'pro' },
    }));
    await putRecords(db, { projectId, kind: 'users', records });
    const definition = { trait: 'plan', equals: 'pro' };
    const { id: audience } = await createAudience(
      { db, listRuleNeeds },
      { projectId, name: 'Pros', definition },
    );
    await engine.settle();
    const document = { name: 'pro', when: { audience, move: 'joined' }, steps: [{ draft: EMAIL }] };
    await createRule(db, { projectId, document });
    await startEnrollment(db, { projectId, reference: 'pro', newId });
    const deps = {
      db,
      newId,
      models: createModels(clock),
      propertyCache: createPropertyCache(),
      hasher: testHasher,
    };
    await processTimers(deps, projectId, 1);
    const restoredTo = clock.now();
    await closeGate(db);
    clock.advance(MINUTE);
    const stoppedAt = clock.now();
    await db.query(`UPDATE beckon.database_timeline SET seen_at = $1`, [new Date(stoppedAt)]);
    clock.advance(MINUTE);
    await processTimers(deps, projectId, 1);
    await expect(confirm({ restoredTo, stoppedAt })).rejects.toThrow(/still enrolling/);
    await engine.settle();
    expect(await confirm({ restoredTo, stoppedAt })).toMatchObject({ unknown: 0, review: 3, unaffected: 0 });
    expect(await stands(...users)).toEqual(users.map(() => ['held', 'restored']));
  });
});

test('holds a draft changed between restore and confirmation, whatever is said about the time before', async () => {
  await greet('moved', 'same');
  clock.advance(HOUR);
  await closeGate(db);
  const stoppedAt = clock.now();
  clock.advance(MINUTE);
  await act('moved', { kind: 'postpone', until: clock.now() + 5 * HOUR, extend: true });
  const restoredTo = stoppedAt - 30 * MINUTE;
  expect(await confirm({ restoredTo, stoppedAt, nothingApproved: true })).toMatchObject({
    review: 1,
    unaffected: 1,
  });
  expect(await stands('moved', 'same')).toEqual([
    ['held', 'restored'],
    ['scheduled', null],
  ]);
});

test('lists a held, formerly approved draft in Review, and not as scheduled', async () => {
  const hour = new Date(clock.now()).getUTCHours();
  const window = [hour - 1, hour + 4].map((at) => `${String((at + 24) % 24).padStart(2, '0')}:00`).join('-');
  await setSettings(db, projectId, { quiet_hours: window });
  await greet('approved');
  await act('approved', { kind: 'approve' });
  await engine.advance(MINUTE);
  expect(await stands('approved')).toEqual([['held', 'quiet_hours']]);
  await closeGate(db);
  clock.advance(MINUTE);
  expect(await confirm({ stoppedAt: clock.now() - MINUTE })).toMatchObject({ review: 1 });
  expect(await stands('approved')).toEqual([['held', 'restored']]);
  const filter = { terms: [] };
  const page = { projectId, view: 'review' as const, filter, after: null, offset: 0, limit: 10 };
  expect(await listDraftPage(db, page)).toMatchObject([{ userId: 'approved', resumeState: 'approved' }]);
  const [soon, tonight] = [clock.now() + HOUR, clock.now() + DAY];
  expect(await countReview(db, { projectId, filter, soon, tonight })).toMatchObject({ held: 1 });
  expect((await listQueued(db, { projectId, after: null, limit: 10 })).emails).toEqual([]);
});

describe('sequence with an email that may have been sent', () => {
  const draftsOf = async (userId: string): Promise<unknown[]> => {
    const query = { projectId, userId, state: null, ruleId: null, after: null, limit: 10 };
    return (await listDrafts(db, query)).map(({ step, state, reason }) => [step, state, reason]).toReversed();
  };
  const SECOND = { subject: 'Second', body: 'Second' };
  const THIRD = { subject: 'Third', body: 'Third' };

  test('holds the following emails while they may have been sent too, and sends later ones automatically', async () => {
    await createRule(db, {
      projectId,
      document: {
        name: 'three',
        when: { event: 'began' },
        steps: [{ draft: EMAIL }, { wait: '1h' }, { draft: SECOND }, { wait: '2d' }, { draft: THIRD }],
      },
    });
    const users = [{ external_user_id: 'u', email: 'u@x.org' }];
    await putRecords(db, { projectId, kind: 'users', records: users });
    const events = [{ external_user_id: 'u', name: 'began', properties: {} }];
    await putRecords(db, { projectId, kind: 'events', records: events });
    await engine.settle();
    const restoredTo = clock.now();
    await closeGate(db);
    clock.advance(DAY);
    await db.query(`UPDATE beckon.database_timeline SET seen_at = $1`, [new Date(clock.now())]);
    expect(await confirm({ restoredTo, stoppedAt: clock.now() })).toMatchObject({ unknown: 1, review: 0 });
    await engine.advance(2 * HOUR);
    expect(await draftsOf('u')).toEqual([
      [0, 'unknown', 'possibly_sent'],
      [2, 'held', 'restored'],
    ]);
    await act('u', { kind: 'approve' });
    await engine.advance(3 * DAY);
    expect(await draftsOf('u')).toEqual([
      [0, 'unknown', 'possibly_sent'],
      [2, 'sent', null],
      [4, 'sent', null],
    ]);
  });
});
