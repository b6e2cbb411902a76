import { expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { draftFacts, HOUR, MINUTE } from '../../../testing/factories/drafts.ts';
import { idMaker } from '../../platform/ids.ts';
import { resumeWithAddress, newDraft, type NewDraft } from './new-draft.ts';
import { afterRestore } from '../operations/restore/drafts-after-restore.ts';
import { approve, skip, undo } from '../review/approve-draft.ts';
import {
  cancel,
  dueAction,
  hold,
  holdOrCancelUnmatched,
  release,
  holdOrCancelReplied,
} from './hold-draft.ts';
import { sendAgain } from './send-draft.ts';
import { closeEditor, edit, openEditor } from './edit-draft.ts';
import { type DraftActionResult, isRefused, orThrow } from './refusals.ts';
import { type Draft, isExpired, spreadMs } from './draft.ts';
import { follow } from './follow-facts.ts';
import { setDraftMode, needsConfirmation, resumeDraft } from './resume-drafts.ts';
import type { DraftChange } from './transitions.ts';
import { postpone } from '../review/postpone-draft.ts';
import { claim, finish, retry } from '../delivery/send-draft.ts';

const clock = fixedClock();
const newId = idMaker(clock);
const T0 = clock.now();
const content = {
  subject: 'Hello again',
  preheader: '',
  body: 'In my own words',
  format: 'markdown' as const,
};
const by = (at: number, actor = 'ana'): { actor: string; now: number } => ({ actor, now: at });

function make(changed: Partial<NewDraft> = {}): Draft {
  return newDraft({ ...draftFacts(newId), now: T0, ...changed }).draft;
}
function after(decided: DraftActionResult | null): Draft {
  if (decided === null) throw new Error('nothing changed');
  return orThrow(decided).draft;
}
function codeOf(decided: DraftActionResult): string {
  return isRefused(decided) ? `${decided.refused.code}: ${decided.refused.message}` : 'done';
}
const draftOnly = { autopilotMs: null };

test('sends an untouched draft after its period, and expires it 72 hours after its first deadline', () => {
  const draft = make();
  expect(draft).toMatchObject({
    state: 'scheduled',
    deadlineAt: T0 + 2 * HOUR,
    dueAt: T0 + 2 * HOUR,
    expiresAt: T0 + 74 * HOUR,
  });
  expect(dueAction(draft, T0 + 2 * HOUR - 1)).toBe('wait');
  expect(dueAction(draft, T0 + 2 * HOUR)).toBe('leave');
});

test('sets the deadline 15 minutes before the end of its subject, and never before now', () => {
  const soon = make({ endsAt: T0 + HOUR });
  expect([soon.deadlineAt, soon.expiresAt]).toEqual([T0 + 45 * MINUTE, T0 + HOUR]);
  expect(make({ endsAt: T0 + 5 * MINUTE }).deadlineAt).toBe(T0);
});

test('sets no deadline for a draft-only rule and does not check the draft before it is approved', () => {
  const draft = make(draftOnly);
  expect(draft).toMatchObject({ state: 'scheduled', deadlineAt: null, dueAt: null, expiresAt: null });
  expect(codeOf(claim(draft, { now: T0 + 999 * HOUR }))).toMatch(/^conflict/);
  const approved = after(approve(draft, by(T0)));
  expect(dueAction(approved, T0 + 10_000)).toBe('leave');
});

test('starts the period of a draft without an address when the address arrives', () => {
  const draft = make({ hasAddress: false });
  expect(draft).toMatchObject({ state: 'held', reason: 'no_address', deadlineAt: null, dueAt: null });
  const later = T0 + 30 * HOUR;
  const arrived = after(resumeWithAddress(draft, { now: later, expiresAfterMs: 72 * HOUR, missing: null }));
  expect(arrived).toMatchObject({
    state: 'scheduled',
    reason: null,
    deadlineAt: later + 2 * HOUR,
    dueAt: later + 2 * HOUR,
    expiresAt: later + 74 * HOUR,
  });
  const hole = after(resumeWithAddress(draft, { now: later, expiresAfterMs: 72 * HOUR, missing: 'plan' }));
  expect(hole).toMatchObject({ state: 'held', reason: 'missing_variable', facts: { plan: null } });
});

test('holds a draft with a missing variable by its name, and sends it only once it is filled, not on approval', () => {
  const { draft, move } = newDraft({ ...draftFacts(newId), missing: 'company', now: T0 });
  expect([draft.state, draft.reason, move.detail]).toEqual([
    'held',
    'missing_variable',
    { variable: 'company' },
  ]);
  expect(codeOf(approve(draft, by(T0)))).toMatch(/^conflict: company is unknown/);
  expect(after(edit(draft, content, by(T0)))).toMatchObject({ state: 'scheduled', isEdited: true });
  const update = { content, facts: { company: 'Acme' }, missing: null, why: 'facts_changed' as const };
  expect(after(follow(draft, { ...update, now: T0 + 1 }))).toMatchObject({
    state: 'scheduled',
    dueAt: T0 + 2 * HOUR,
    content,
    isEdited: false,
  });
});

test('holds a draft that may have been sent before a restore for review, and does not send it with a missing variable', () => {
  const restored = { state: 'held', reason: 'restored', dueAt: null };
  expect(make({ mayHaveLeft: true })).toMatchObject(restored);
  expect(make({ mayHaveLeft: true, hasAddress: false })).toMatchObject(restored);
  expect(after(approve(make({ mayHaveLeft: true }), by(T0)))).toMatchObject({ state: 'approved' });
  const hole = make({ mayHaveLeft: true, missing: 'company' });
  expect(codeOf(approve(hole, by(T0)))).toMatch(/^conflict: company is unknown/);
  const filled = { content, facts: {}, missing: null, why: 'facts_changed' as const, now: T0 + 1 };
  expect(after(follow(hole, { ...filled, mayHaveLeft: true }))).toMatchObject({ ...restored, content });
  expect(after(follow(hole, filled))).toMatchObject({ state: 'scheduled' });
  const doubting = { now: T0, actor: 'operator', detail: {} };
  expect(afterRestore(hole, 'review', doubting)).toBeNull();
  expect(afterRestore(make(), 'review', doubting)?.draft).toMatchObject(restored);
});

test('keeps a draft held that may have been sent before a restore when it is opened in the editor', () => {
  const opened = after(openEditor(make({ mayHaveLeft: true }), by(T0)));
  const late = T0 + 30 * HOUR;
  for (const closed of [after(closeEditor(opened, by(T0 + 1))), after(closeEditor(opened, by(late)))]) {
    expect(closed).toMatchObject({ state: 'held', reason: 'restored', leaseBy: null, dueAt: null });
    expect(dueAction(closed, late)).toBe('wait');
  }
});

test('freezes the approved text, sends it after ten seconds, and allows undo until the claim', () => {
  const draft = make();
  const { draft: approved, move } = orThrow(approve(draft, { ...by(T0), hash: draft.contentHash }));
  expect(approved).toMatchObject({ state: 'approved', notBefore: T0 + 10_000, dueAt: T0 + 10_000 });
  expect(codeOf(claim(approved, { now: T0 + 9_999 }))).toMatch(/^conflict/);
  const undone = after(undo(approved, [move], by(T0 + HOUR)));
  expect(undone).toMatchObject({
    state: 'scheduled',
    deadlineAt: draft.deadlineAt,
    dueAt: draft.dueAt,
    notBefore: null,
  });
  const claimed = orThrow(claim(approved, { now: T0 + 10_000 }));
  expect(codeOf(undo(claimed.draft, [move, claimed.move], by(T0 + 10_001)))).toBe(
    'conflict: The email is already being sent',
  );
});

test('rejects a decision on a text that has changed, or after another decision', () => {
  const draft = make();
  const edited = after(edit(draft, content, by(T0, 'ben')));
  expect(codeOf(approve(edited, { ...by(T0), hash: draft.contentHash }))).toMatch(
    /^conflict: The text of the draft/,
  );
  expect(codeOf(skip(edited, { ...by(T0), moves: draft.moves, reason: null }))).toMatch(
    /^conflict: The draft changed/,
  );
  expect(codeOf(approve(after(approve(draft, by(T0))), by(T0)))).toBe(
    'conflict: The draft is already approved',
  );
  expect(
    codeOf(postpone(after(cancel(draft, { reason: 'goal', now: T0 })), { ...by(T0), until: T0 + HOUR })),
  ).toBe('conflict: The draft was canceled');
});

test('makes a skip final after ten seconds, and does not send the draft at the moment of the undo', () => {
  const draft = make();
  const near = (draft.deadlineAt ?? 0) - 1_000;
  const { draft: skipped, move } = orThrow(skip(draft, { ...by(near), reason: 'a friend' }));
  expect(skipped).toMatchObject({
    state: 'skipped',
    reason: 'a friend',
    notBefore: near + 10_000,
    dueAt: null,
  });
  const undone = after(undo(skipped, [move], by(near + 9_999)));
  expect(undone).toMatchObject({ state: 'scheduled', reason: null, endedAt: null, notBefore: null });
  expect(undone.deadlineAt).toBe(near + 9_999 + 15 * MINUTE);
  expect(undone.dueAt).toBe(undone.deadlineAt);
  expect(codeOf(undo(skipped, [move], by(near + 10_000)))).toMatch(
    /^conflict: The skip of the draft is final/,
  );
});

test('keeps an edited text, leaves autopilot at least 15 minutes, and withdraws an approval', () => {
  const draft = make();
  const early = after(edit(draft, content, by(T0)));
  expect(early).toMatchObject({ state: 'scheduled', isEdited: true, content, deadlineAt: T0 + 2 * HOUR });
  expect(early.contentHash).not.toBe(draft.contentHash);
  const late = T0 + 2 * HOUR - MINUTE;
  expect(after(edit(draft, content, by(late))).deadlineAt).toBe(late + 15 * MINUTE);
  const approved = after(approve(draft, by(late)));
  expect(after(edit(approved, content, by(late)))).toMatchObject({
    state: 'scheduled',
    notBefore: null,
    dueAt: late + 15 * MINUTE,
  });
  const held = after(hold(approved, { reason: 'quiet_hours', until: late + HOUR, now: late }));
  expect(after(edit(held, content, by(late)))).toMatchObject({ state: 'held', resumeState: 'scheduled' });
  for (const wrong of [
    { ...content, subject: ' ' },
    { ...content, subject: 'a\nBcc: b' },
    ...['a\tb', 'a\u0085b', 'a\u001bb', 'a'.repeat(999)].map((subject) => ({ ...content, subject })),
    { ...content, body: '' },
    { ...content, body: 'x\0' },
  ]) {
    expect(codeOf(edit(draft, wrong, by(T0)))).toMatch(/^validation_failed/);
  }
});

test('blocks sending and other members while an editor is open, until ten minutes after its last request', () => {
  const draft = make({ autopilotMs: 5 * MINUTE });
  const open = after(openEditor(draft, by(T0)));
  expect(open).toMatchObject({ state: 'held', reason: 'editing', leaseBy: 'ana', dueAt: T0 + 10 * MINUTE });
  expect(codeOf(approve(open, by(T0 + MINUTE, 'ben')))).toBe(
    'conflict: ana is editing the draft. Wait until the editor is closed',
  );
  expect(codeOf(claim(open, { now: T0 + 6 * MINUTE }))).toMatch(/^conflict/);
  const renewed = after(openEditor(open, by(T0 + 9 * MINUTE)));
  expect(renewed.dueAt).toBe(T0 + 19 * MINUTE);
  const saved = after(edit(renewed, content, by(T0 + 10 * MINUTE)));
  expect(saved).toMatchObject({ state: 'held', reason: 'editing', leaseBy: 'ana' });
  const closed = after(closeEditor(saved, by(T0 + 11 * MINUTE)));
  expect(closed).toMatchObject({ state: 'scheduled', leaseBy: null, dueAt: T0 + 25 * MINUTE });
  expect(dueAction(open, T0 + 10 * MINUTE)).toBe('close_editor');
  expect(codeOf(approve(open, by(T0 + 10 * MINUTE, 'ben')))).toBe('done');
});

test('keeps holding a held draft after an editor on it is closed', () => {
  const edited = after(edit(make(), content, by(T0)));
  const review = after(holdOrCancelUnmatched(edited, { now: T0 }));
  const closed = after(closeEditor(after(openEditor(review, by(T0))), by(T0 + MINUTE)));
  expect(closed).toMatchObject({ state: 'held', reason: 'needs_review', dueAt: null, leaseBy: null });
});

test('moves the deadline on postponement, withdraws an approval, and stops at the expiry unless it is extended on purpose', () => {
  const draft = make();
  const until = T0 + 50 * HOUR;
  expect(after(postpone(draft, { ...by(T0), until }))).toMatchObject({
    state: 'scheduled',
    deadlineAt: until,
    dueAt: until,
  });
  expect(after(postpone(after(approve(draft, by(T0))), { ...by(T0), until }))).toMatchObject({
    state: 'scheduled',
    notBefore: null,
  });
  const beyond = T0 + 75 * HOUR;
  expect(codeOf(postpone(draft, { ...by(T0), until: beyond }))).toMatch(
    /^validation_failed: The draft expires at/,
  );
  expect(after(postpone(draft, { ...by(T0), until: beyond, extend: true })).expiresAt).toBe(
    beyond + 72 * HOUR,
  );
  const trial = make({ endsAt: T0 + 24 * HOUR });
  for (const extend of [false, true]) {
    expect(codeOf(postpone(trial, { ...by(T0), until: T0 + 24 * HOUR, extend }))).toMatch(
      /Choose an earlier time/,
    );
  }
  expect(codeOf(postpone(draft, { ...by(T0), until: T0 }))).toMatch(/^validation_failed/);
  expect(codeOf(postpone(draft, { ...by(T0), until: T0 + HOUR }))).toMatch(
    /Approve the draft to send it sooner/,
  );
});

test('hides a postponed draft-only draft, which waits for review again afterwards', () => {
  const until = T0 + 5 * HOUR;
  const postponed = after(postpone(make(draftOnly), { ...by(T0), until }));
  expect(postponed).toMatchObject({ state: 'held', reason: 'postponed', dueAt: until, deadlineAt: null });
  expect(dueAction(postponed, until)).toBe('release');
  expect(after(release(postponed, { now: until }))).toMatchObject({
    state: 'scheduled',
    dueAt: null,
    notBefore: null,
  });
});

test('ignores the deadline of a held draft, and cancels it if it is released too late', () => {
  const held = after(hold(make(), { reason: 'domain_not_ready', until: null, now: T0 }));
  expect(dueAction(held, T0 + 60 * HOUR)).toBe('wait');
  const now = T0 + 60 * HOUR;
  expect(after(release(held, { now }))).toMatchObject({ state: 'scheduled', dueAt: now });
  expect(after(release(held, { now, spread: true })).dueAt).toBe(now + spreadMs(held.id));
  expect(after(release(held, { now: T0 + 74 * HOUR }))).toMatchObject({
    state: 'canceled',
    reason: 'expired',
  });
});

test('holds a draft at a send check no longer than its expiry', () => {
  const held = after(hold(make(), { reason: 'frequency_cap', until: T0 + 900 * HOUR, now: T0 }));
  expect(held.dueAt).toBe(held.expiresAt);
  expect(dueAction(held, held.dueAt ?? 0)).toBe('expire');
});

test('sends nothing before its deadline when a send check opens earlier', () => {
  const held = after(hold(make(), { reason: 'quiet_hours', until: T0 + HOUR, now: T0 }));
  expect(dueAction(held, T0 + HOUR)).toBe('release');
  expect(after(release(held, { now: T0 + HOUR })).dueAt).toBe(T0 + 2 * HOUR);
});

test('cancels an untouched draft and holds an edited one when its rule no longer holds', () => {
  const draft = make();
  expect(after(holdOrCancelUnmatched(draft, { now: T0 }))).toMatchObject({
    state: 'canceled',
    reason: 'rule_no_longer_holds',
  });
  expect(after(holdOrCancelUnmatched(after(approve(draft, by(T0))), { now: T0 })).state).toBe('canceled');
  const review = after(holdOrCancelUnmatched(after(edit(draft, content, by(T0))), { now: T0 }));
  expect(review).toMatchObject({ state: 'held', reason: 'needs_review', dueAt: null });
  expect(codeOf(approve(review, by(T0)))).toMatch(/^conflict: The condition of the draft's rule/);
  const { draft: anyway, move } = orThrow(approve(review, { ...by(T0), anyway: true }));
  expect([anyway.state, move.detail.send_anyway]).toEqual(['approved', true]);
});

test('cancels untouched drafts after a reply, and holds those that a member approved or edited', () => {
  const draft = make();
  expect(after(holdOrCancelReplied(draft, { now: T0 }))).toMatchObject({
    state: 'canceled',
    reason: 'replied',
  });
  for (const touched of [approve(draft, by(T0)), edit(draft, content, by(T0))]) {
    expect(after(holdOrCancelReplied(after(touched), { now: T0 }))).toMatchObject({
      state: 'held',
      reason: 'replied',
      dueAt: null,
    });
  }
});

const facts = { content, facts: { name: 'Grace' }, missing: null, why: 'facts_changed' as const };

test('applies changed facts to an untouched draft, marks an edited one, and withdraws an approval', () => {
  const draft = make();
  const now = T0 + HOUR;
  expect(after(follow(draft, { ...facts, now }))).toMatchObject({
    content,
    deadlineAt: draft.deadlineAt,
    facts: facts.facts,
  });
  const editedContent = { ...content, body: 'Mine' };
  const edited = after(edit(draft, editedContent, by(T0)));
  expect(after(follow(edited, { ...facts, now }))).toMatchObject({
    content: editedContent,
    reason: 'facts_changed',
  });
  const approved = after(approve(draft, by(now)));
  expect(after(follow(approved, { ...facts, now }))).toMatchObject({
    state: 'scheduled',
    reason: 'facts_changed',
    deadlineAt: now + 2 * HOUR,
    notBefore: null,
    content,
  });
  const waiting = after(approve(make(draftOnly), by(now)));
  expect(after(follow(waiting, { ...facts, now }))).toMatchObject({
    state: 'scheduled',
    deadlineAt: null,
    dueAt: null,
  });
});

test('leaves drafts at least 15 minutes after a new template version', () => {
  const published = { ...facts, why: 'template_changed', now: T0 + 2 * HOUR - MINUTE } as const;
  expect(after(follow(make(), published)).deadlineAt).toBe(published.now + 15 * MINUTE);
});

const mode = { includeOpen: false, expiresAfterMs: 72 * HOUR, now: T0 + MINUTE };

test('removes the deadlines of untouched drafts when a rule becomes draft-only, but not those of edited ones', () => {
  const draft = make();
  expect(after(setDraftMode(draft, { ...mode, autopilotMs: null }))).toMatchObject({
    state: 'scheduled',
    deadlineAt: null,
    autopilotMs: null,
  });
  expect(setDraftMode(after(edit(draft, content, by(T0))), { ...mode, autopilotMs: null })).toBeNull();
  const approved = after(approve(draft, by(T0)));
  expect(after(setDraftMode(approved, { ...mode, autopilotMs: null }))).toMatchObject({
    state: 'approved',
    dueAt: T0 + 10_000,
  });
});

test('never sends automatically after the change to draft-only, even after an undo, edit or postponement', () => {
  const draft = make();
  const approved = approve(draft, by(T0));
  const [first] = isRefused(approved) ? [] : [approved.move];
  const changed = after(setDraftMode(after(approved), { ...mode, autopilotMs: null }));
  const late = T0 + 9 * HOUR;
  const waits = { deadlineAt: null, autopilotMs: null };
  expect(after(undo(changed, first ? [first] : [], by(late)))).toMatchObject({
    state: 'scheduled',
    ...waits,
  });
  expect(after(edit(changed, content, by(late)))).toMatchObject({ state: 'scheduled', ...waits });
  expect(after(postpone(changed, { ...by(late), until: late + HOUR }))).toMatchObject({
    state: 'held',
    reason: 'postponed',
    ...waits,
  });
  const postponed = postpone(draft, { ...by(T0), until: T0 + 20 * HOUR });
  const then = after(setDraftMode(after(postponed), { ...mode, autopilotMs: null }));
  const moves = isRefused(postponed) ? [] : [postponed.move];
  expect(after(undo(then, moves, by(T0 + 1_000)))).toMatchObject({ state: 'scheduled', ...waits });
});

test('applies the change to autopilot to open drafts only on request, and gives them the full period', () => {
  const draft = make(draftOnly);
  expect(setDraftMode(draft, { ...mode, autopilotMs: 2 * HOUR })).toBeNull();
  expect(after(setDraftMode(draft, { ...mode, autopilotMs: 2 * HOUR, includeOpen: true }))).toMatchObject({
    deadlineAt: mode.now + 2 * HOUR,
    dueAt: mode.now + 2 * HOUR,
    expiresAt: mode.now + 74 * HOUR,
  });
});

test('sends nothing for 15 minutes after a pause, then spreads the overdue drafts and cancels the expired ones', () => {
  const draft = make();
  const now = T0 + 10 * HOUR;
  const later = now + 15 * MINUTE + spreadMs(draft.id);
  const input = { actor: 'ana', now };
  expect(resumeDraft(draft, input)?.draft).toMatchObject({
    deadlineAt: later,
    dueAt: later,
    expiresAt: draft.expiresAt,
  });
  const held = after(hold(draft, { reason: 'paused', until: null, now: T0 + 2 * HOUR }));
  expect(resumeDraft(held, input)?.draft).toMatchObject({
    state: 'scheduled',
    deadlineAt: later,
    dueAt: later,
  });
  const approved = after(
    hold(after(approve(draft, by(T0))), { reason: 'paused', until: null, now: T0 + HOUR }),
  );
  expect(resumeDraft(approved, input)?.draft).toMatchObject({
    state: 'approved',
    dueAt: now + spreadMs(draft.id),
  });
  expect(resumeDraft(held, { actor: 'ana', now: T0 + 75 * HOUR })?.draft).toMatchObject({
    state: 'canceled',
    reason: 'expired',
  });
  expect(resumeDraft(make({ autopilotMs: 30 * HOUR }), input)).toBeNull();
  expect(resumeDraft(make(draftOnly), input)).toBeNull();
});

test('requires confirmation to release more than 100 drafts that were held for over a day', () => {
  expect([needsConfirmation({ longHeld: 100 }), needsConfirmation({ longHeld: 101 })]).toEqual([false, true]);
});

test('freezes a deferred email against edits and undo, and gives it up after its time', () => {
  const approval = orThrow(approve(make(), by(T0)));
  const claimed = orThrow(claim(approval.draft, { now: T0 + 10_000 }));
  const put = orThrow(retry(claimed.draft, { at: T0 + HOUR, now: T0 + 11_000 }));
  const deferred = { state: 'held', reason: 'deferred', resumeState: 'approved', dueAt: T0 + HOUR };
  expect(put.draft).toMatchObject(deferred);
  const moves = [approval, claimed, put].map(({ move }: DraftChange) => move);
  for (const decided of [
    undo(put.draft, moves, by(T0 + 12_000)),
    edit(put.draft, content, by(T0 + 12_000)),
    follow(put.draft, { ...facts, now: T0 + 12_000 }),
  ]) {
    expect(codeOf(decided)).toMatch(/^conflict/);
  }
  const quiet = after(hold(put.draft, { reason: 'quiet_hours', until: T0 + 2 * HOUR, now: T0 + HOUR }));
  expect([quiet.reason, dueAction(quiet, T0 + 2 * HOUR)]).toEqual(['deferred', 'leave']);
  const late = T0 + 80 * HOUR;
  expect(dueAction(quiet, late)).toBe('give_up');
  const end = { result: 'failed', reason: 'deferred_too_long' } as const;
  expect(after(finish(quiet, end, { now: late })).state).toBe('failed');
});

test('resends an email of unknown delivery only if the member confirms that it may arrive twice', () => {
  const claimed = after(claim(after(approve(make(), by(T0))), { now: T0 + 10_000 }));
  const lost = after(finish(claimed, { result: 'unknown', reason: 'crash' }, { now: T0 + 10_001 }));
  const again = { id: newId(), ...by(T0 + HOUR) };
  expect(sendAgain(lost, [], again)).toMatchObject({ refused: { code: 'conflict' } });
  expect(sendAgain(lost, [], { ...again, confirmed: true })).toMatchObject({
    again: [
      { draft: { state: 'unknown' } },
      { draft: { id: again.id, resendOf: lost.id, state: 'approved' } },
    ],
  });
});

test('gives a draft at its expiry another 15 minutes, but not past the end of its subject', () => {
  const until = T0 + 74 * HOUR;
  const last = after(postpone(make(), { ...by(T0), until }));
  expect([isExpired(last, until), isExpired(last, until + 15 * MINUTE)]).toEqual([false, true]);
  const end = T0 + HOUR;
  const trial = make({ endsAt: end });
  expect([isExpired(trial, end - 1), isExpired(trial, end)]).toEqual([false, true]);
  expect(codeOf(approve(trial, by(end)))).toMatch(/^conflict: The draft expired/);
});
