import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { draftFacts, HOUR, MINUTE } from '../../../testing/factories/drafts.ts';
import { idMaker } from '../../platform/ids.ts';
import { resumeWithAddress, newDraft } from './new-draft.ts';
import { afterRestore } from '../operations/restore/drafts-after-restore.ts';
import { approve, skip, undo } from '../review/approve-draft.ts';
import { can, type DraftTransition, type DraftChange, ENDED, MOVES } from './transitions.ts';
import {
  cancel,
  dueAction,
  hold,
  holdOrCancelUnmatched,
  release,
  holdOrCancelReplied,
} from './hold-draft.ts';
import { askAgain, keepUnknown, sendAgain, resolveDraft } from './send-draft.ts';
import { closeEditor, edit, openEditor } from './edit-draft.ts';
import { type DraftActionResult, isRefused } from './refusals.ts';
import { type Draft, DRAFT_STATES, INCOMPLETE_REASONS, MEMBER_DECIDES } from './draft.ts';
import { findDraft } from './reads.ts';
import { follow } from './follow-facts.ts';
import { setDraftMode, resumeDraft } from './resume-drafts.ts';
import { postpone } from '../review/postpone-draft.ts';
import { reword } from '../templates/ai-drafting/reword-draft.ts';
import { writeTransitions } from './store.ts';
import { claim, finish, returnDraft, holdWhileSending, retry } from '../delivery/send-draft.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const newId = idMaker(clock);

async function checks(): Promise<string[]> {
  const rows = await db.query<{ definition: string }>(
    `SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint
     WHERE conrelid = 'beckon.draft'::regclass AND contype = 'c'`,
  );
  return rows.map((row) => row.definition);
}

function statesIn(definition = ''): string[] {
  return [...definition.matchAll(/'([a-z]+)'::text/g)].map((match) => match[1] ?? '').toSorted();
}

test('has the same states as the CHECK constraint of the database', async () => {
  const all = await checks();
  const named = Object.values<Partial<Record<string, readonly string[]>>>(MOVES).flatMap((row) => [
    ...Object.keys(row),
    ...Object.values(row).flatMap((states) => states ?? []),
  ]);
  const inTable = new Set(named.filter((state) => state !== 'start'));
  expect([...inTable].toSorted()).toEqual([...DRAFT_STATES].toSorted());
  const states = all.filter((text) => text.startsWith('CHECK ((state = ANY') && text.includes('sending'));
  expect(states.map(statesIn)).toContainEqual([...DRAFT_STATES].toSorted());
});

test('has the same ended and resumable states as the database', async () => {
  const all = await checks();
  expect(statesIn(all.find((text) => text.includes('ended_at IS NOT NULL')))).toEqual([...ENDED].toSorted());
  const resumable = ['approved', 'scheduled'];
  expect(statesIn(all.find((text) => text.includes('resume_state = ANY')))).toEqual(resumable);
  for (const state of MOVES.release.held) expect([...resumable, 'held']).toContain(state);
});

test('allows only resolving, asking about, resending and undoing an ended draft', () => {
  const after = Object.keys(MOVES).filter((action) =>
    [...ENDED].some((state) => can(state, action as keyof typeof MOVES)),
  );
  expect(after.toSorted()).toEqual(['ask_again', 'keep_unknown', 'resolve', 'send_again', 'undo']);
  expect(can('sent', 'undo')).toBe(false);
  expect([...ENDED].filter((state) => can(state, 'claim'))).toEqual([]);
});

const people = ['ana', 'ben'] as const;
const content = { subject: 'Other words', preheader: '', body: 'New text', format: 'markdown' as const };

/** All actions on a draft. `n` varies their parameters. */
const VERBS = {
  approve: (d, by) => approve(d, { ...by, anyway: true }),
  approveStrict: (d, by) => approve(d, by),
  edit: (d, by, { n }) => edit(d, { ...content, body: `Text ${n}` }, by),
  postpone: (d, by, { n }) => postpone(d, { ...by, until: by.now + n * HOUR, extend: n > 50 }),
  skip: (d, by) => skip(d, { ...by, reason: 'not them' }),
  undo: (d, by, { moves }) => undo(d, moves, by),
  openEditor: (d, by) => openEditor(d, by),
  closeEditor: (d, by) => closeEditor(d, by),
  hold: (d, { now }, { n }) => hold(d, { reason: 'quiet_hours', until: now + n * MINUTE, now }),
  pause: (d, { now }) => hold(d, { reason: 'paused', until: null, now }),
  release: (d, { now }, { n }) => release(d, { now, spread: n % 2 === 0 }),
  cancel: (d, { now }) => cancel(d, { reason: 'exit_event', now }),
  noLongerHolds: (d, { now }) => holdOrCancelUnmatched(d, { now }),
  replied: (d, { now }) => holdOrCancelReplied(d, { now }),
  follow: (d, { now }, { n }) =>
    follow(d, {
      content: { ...content, body: `Facts ${n}` },
      facts: { n },
      missing: n % 5 === 0 ? 'plan' : null,
      why: n % 2 === 0 ? 'facts_changed' : 'template_changed',
      now,
    }),
  reword: (d, { now }, { n, moves }) =>
    reword(d, moves, {
      content: { ...content, body: `Words ${n}` },
      from: n % 7 === 0 ? 'something else' : d.contentHash,
      now,
      detail: {},
    }),
  address: (d, { now }) => resumeWithAddress(d, { now, expiresAfterMs: 72 * HOUR, missing: null }),
  draftOnly: (d, { now }) =>
    setDraftMode(d, { autopilotMs: null, includeOpen: true, expiresAfterMs: 72 * HOUR, now }),
  autopilot: (d, { now }) =>
    setDraftMode(d, { autopilotMs: 2 * HOUR, includeOpen: true, expiresAfterMs: 72 * HOUR, now }),
  resume: (d, by) => resumeDraft(d, by),
  claim: (d, { now }) => claim(d, { now }),
  sent: (d, { now }) => finish(d, { result: 'sent' }, { now }),
  failed: (d, { now }) => finish(d, { result: 'failed', reason: '550' }, { now }),
  lost: (d, { now }) => finish(d, { result: 'unknown', reason: 'crash' }, { now }),
  restored: (d, { now }, { n }) =>
    d.endedAt === null
      ? afterRestore(d, n % 9 === 0 ? 'unknown' : n % 9 === 1 ? 'review' : 'unaffected', {
          now,
          actor: 'engine',
          detail: {},
        })
      : null,
  retry: (d, { now }, { n }) => retry(d, { at: now + n * MINUTE, now }),
  returnDraft: (d, { now }, { n }) => returnDraft(d, { at: now + n * MINUTE, now }),
  holdWhileSending: (d, { now }) => holdWhileSending(d, { now }),
  ask: (d, { now }) => askAgain(d, { now }),
  keep: (d, { now }) => keepUnknown(d, { reason: 'window_closed', now }),
  resolve: (d, { now }) => resolveDraft(d, { result: 'failed', reason: 'bounced' }, { now }),
} satisfies Record<
  string,
  (
    draft: Draft,
    by: { actor: string; now: number },
    more: { n: number; moves: DraftTransition[] },
  ) => DraftActionResult | null
>;
type Verb = keyof typeof VERBS;

const command = fc.record({
  verb: fc.constantFrom(...(Object.keys(VERBS) as Verb[])),
  actor: fc.constantFrom(...people),
  n: fc.integer({ min: 1, max: 100 }),
  waitMs: fc.constantFrom(0, 0, 1_000, 9_999, 10_000, 5 * MINUTE, 11 * MINUTE, HOUR, 3 * HOUR, 80 * HOUR),
});
const beginning = fc.record({
  autopilotMs: fc.constantFrom(null, 5 * MINUTE, 2 * HOUR),
  hasAddress: fc.boolean(),
  missing: fc.constantFrom(null, null, 'plan'),
  endsInMs: fc.constantFrom(null, 10 * MINUTE, 24 * HOUR),
});
type DraftStart = {
  autopilotMs: number | null;
  hasAddress: boolean;
  missing: string | null;
  endsInMs: number | null;
};
type Command = { verb: Verb; actor: string; n: number; waitMs: number };

/** With this `n`, the verb itself is applied to a draft that is being sent. */
const ITSELF = 13;
const doing = (verb: Verb, waitMs = 0): Command => ({ verb, actor: 'ana', n: ITSELF, waitMs });
const sending = (end: Verb): Command[] => [doing('approve'), doing('claim', 10_000), doing(end)];

/** Sequences so rare by chance that two thousand random runs may miss them. */
const RARE: [DraftStart, Command[]][] = [
  sending('sent'),
  sending('failed'),
  [...sending('lost'), doing('resolve')],
  [...sending('lost'), doing('ask')],
  [...sending('lost'), doing('keep')],
  sending('retry'),
  sending('returnDraft'),
  sending('holdWhileSending'),
  [doing('openEditor'), doing('closeEditor')],
  [doing('approve'), doing('follow')],
  [doing('approve'), doing('undo', 1_000)],
].map((commands) => [{ autopilotMs: 2 * HOUR, hasAddress: true, missing: null, endsInMs: null }, commands]);

function begin({ endsInMs, ...rest }: DraftStart): DraftChange {
  const endsAt = endsInMs === null ? null : clock.now() + endsInMs;
  return newDraft({ ...draftFacts(newId), ...rest, endsAt, now: clock.now() });
}

/** Makes sure that sending ends sooner or later. Otherwise hardly any run would reach the states after it. */
function fitting({ state }: Draft, verb: Verb, n: number): Verb {
  if (state === 'sending')
    return (
      (['sent', 'failed', 'lost', 'retry', 'returnDraft', 'holdWhileSending', verb] as const)[n % 7] ?? verb
    );
  if (state !== 'unknown' || ['resolve', 'ask', 'keep'].includes(verb)) return verb;
  return (['resolve', 'ask', 'keep'] as const)[n % 3] ?? verb;
}

function play(first: DraftChange, commands: Command[]): DraftChange[] {
  const all = [first];
  let now = clock.now();
  for (const { verb: drawnVerb, actor, n, waitMs } of commands) {
    now += waitMs;
    const last = all.at(-1) ?? first;
    const { draft } = last;
    const verb = fitting(draft, drawnVerb, n);
    const decided = VERBS[verb](draft, { actor, now }, { n, moves: all.map(({ move }) => move) });
    if (decided === null || isRefused(decided)) continue;
    expectSound(last, decided, { verb, actor, now });
    all.push(decided);
  }
  return all;
}

function expectSound(
  before: DraftChange,
  { draft, move }: DraftChange,
  by: { verb: Verb; actor: string; now: number },
): void {
  const targets: Partial<Record<string, readonly string[]>> = MOVES[move.action];
  expect(targets[before.draft.state]).toContain(draft.state);
  expect(move).toMatchObject({
    number: before.move.number + 1,
    at: by.now,
    from: before.draft.state,
    to: draft.state,
    contentHash: draft.contentHash,
    draftId: before.draft.id,
  });
  expect([by.actor, 'engine', 'model']).toContain(move.actor);
  if (move.action === 'ai_rewrite') expectInTime(before.draft, draft, by.now);
  expect(draft.moves).toBe(move.number);
  expectWhole(draft);
  // An approval covers one text and does not survive a change of it.
  if (draft.contentHash !== before.draft.contentHash || move.action === 'edit') {
    expect(draft.state).not.toBe('approved');
    expect(draft.resumeState).not.toBe('approved');
  }
  if (by.verb === 'follow' && before.draft.isEdited) expect(draft.content).toEqual(before.draft.content);
  if (move.action === 'claim') expectMayLeave(before.draft, by.now);
  expectNotForgotten(draft);
}

/** Checks that AI drafting changes no time and leaves time for a review, and that it never changes an edited text. */
function expectInTime(before: Draft, { deadlineAt, dueAt, isEdited }: Draft, now: number): void {
  expect({ deadlineAt, dueAt, isEdited }).toEqual({
    deadlineAt: before.deadlineAt,
    dueAt: before.dueAt,
    isEdited: false,
  });
  expect((deadlineAt ?? Infinity) - now).toBeGreaterThanOrEqual(15 * MINUTE);
}

function expectWhole(draft: Draft): void {
  expect(draft.state === 'held').toBe(draft.resumeState !== null);
  expect(ENDED.has(draft.state)).toBe(draft.endedAt !== null);
  if (['held', 'canceled', 'failed'].includes(draft.state)) expect(draft.reason).not.toBeNull();
  if (ENDED.has(draft.state) || draft.state === 'sending') expect(draft.dueAt).toBeNull();
  // A draft that only a member can send has no deadline.
  else if (draft.autopilotMs === null) expect(draft.deadlineAt).toBeNull();
}

/** Checks that a draft sent automatically has a due time, which is not before its deadline. */
function expectNotForgotten({ state, dueAt, deadlineAt }: Draft): void {
  if (state === 'approved') expect(dueAt).not.toBeNull();
  if (state === 'scheduled' && deadlineAt !== null) expect(dueAt ?? -1).toBeGreaterThanOrEqual(deadlineAt);
}

function expectMayLeave(draft: Draft, now: number): void {
  const isApproved = [draft.state, draft.resumeState].includes('approved');
  const leaves = isApproved ? draft.notBefore : draft.deadlineAt;
  expect(leaves).not.toBeNull();
  expect(leaves ?? Infinity).toBeLessThanOrEqual(now);
  expect(draft.leaseBy).toBeNull();
  const waits = [...MEMBER_DECIDES, ...INCOMPLETE_REASONS, 'editing', 'no_address', 'postponed'];
  expect(waits).not.toContain(draft.reason);
  expect(now).toBeLessThan(draft.endsAt ?? Infinity);
}

test('reaches the end of the rare sequences', () => {
  const lastActions = RARE.map(([start, commands]) => play(begin(start), commands).at(-1)?.move.action);
  const ends = [
    'sent',
    'fail',
    'resolve',
    'ask_again',
    'keep_unknown',
    'retry',
    'return',
    'hold_while_sending',
    'close_editor',
    'void_approval',
    'undo',
  ];
  expect(lastActions).toEqual(ends);
});

test('makes only allowed transitions and records each one completely, for any sequence of actions', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(beginning, fc.array(command, { maxLength: 25 }), (start, commands) => {
      for (const { move } of play(begin(start), commands)) seen.add(move.action);
    }),
    { numRuns: 2_000, examples: RARE },
  );
  // The actions cover all rows of the table that have verbs, so the result is not a matter of luck.
  const reached = Object.keys(MOVES).filter((action) => !['create_resend', 'send_again'].includes(action));
  expect([...seen].toSorted()).toEqual(reached.toSorted());
});

test('stores every sequence and reads it back unchanged', async () => {
  await fc.assert(
    fc.asyncProperty(
      beginning,
      fc.array(command, { minLength: 5, maxLength: 15 }),
      async (start, commands) => {
        const scenario = play(begin(start), commands);
        for (const moved of scenario) await db.transaction((tx) => writeTransitions(tx, [moved]));
        const last = scenario.at(-1);
        const found = last && (await findDraft(db, last.draft.projectId, last.draft.id));
        expect(found).toEqual({ draft: last?.draft, moves: scenario.map(({ move }) => move) });
      },
    ),
    { numRuns: 60 },
  );
});

test('gives the sender an action for every due draft', () => {
  fc.assert(
    fc.property(beginning, fc.array(command, { maxLength: 15 }), (start, commands) => {
      const scenario = play(begin(start), commands);
      const draft = scenario.at(-1)?.draft;
      if (!draft || draft.dueAt === null) return;
      expect(dueAction(draft, draft.dueAt - 1)).toBe('wait');
      expect(dueAction(draft, Math.max(draft.dueAt, draft.updatedAt))).not.toBe('wait');
    }),
    { numRuns: 2_000 },
  );
});

test('resends a draft once, as a new draft with its own moves', () => {
  const { draft, move } = begin({ autopilotMs: 5 * MINUTE, hasAddress: true, missing: null, endsInMs: null });
  const now = clock.now() + 5 * MINUTE;
  const scenario = [move];
  let failed = draft;
  for (const decide of [
    (d: Draft) => claim(d, { now }),
    (d: Draft) => finish(d, { result: 'failed', reason: '550' }, { now }),
  ]) {
    const decided = decide(failed);
    if (isRefused(decided)) throw decided.refused;
    failed = decided.draft;
    scenario.push(decided.move);
  }
  const sent = sendAgain(failed, scenario, { id: newId(), actor: 'ana', now });
  if (isRefused(sent)) throw sent.refused;
  const [old, made] = sent.again;
  expect([old.draft.state, old.draft.endedAt]).toEqual(['failed', failed.endedAt]);
  expect(made.draft).toMatchObject({
    state: 'approved',
    resendOf: draft.id,
    moves: 1,
    content: draft.content,
  });
  expect(made.move).toMatchObject({ number: 1, from: null, to: 'approved', actor: 'ana' });
  const twice = sendAgain(old.draft, [...scenario, old.move], { id: newId(), actor: 'ben', now });
  expect(twice).toMatchObject({
    refused: { code: 'conflict', message: expect.stringContaining(made.draft.id) },
  });
});
