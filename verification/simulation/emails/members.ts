import { normaliseAddress } from '../../../packages/server/src/platform/net/address.ts';
import {
  type By,
  type DraftActionResult,
  isRefused,
} from '../../../packages/server/src/modules/drafts/refusals.ts';
import { cancel, hold, release } from '../../../packages/server/src/modules/drafts/hold-draft.ts';
import { closeEditor, edit, openEditor } from '../../../packages/server/src/modules/drafts/edit-draft.ts';
import { type Draft, INCOMPLETE_REASONS } from '../../../packages/server/src/modules/drafts/draft.ts';
import { setDraftMode, resumeDraft } from '../../../packages/server/src/modules/drafts/resume-drafts.ts';
import { postpone } from '../../../packages/server/src/modules/review/postpone-draft.ts';
import { skip, undo } from '../../../packages/server/src/modules/review/approve-draft.ts';
import type { Owner, Task } from '../schedule.ts';
import type { Stage } from './sender.ts';
import { write } from './store.ts';
import { followTemplate } from './template.ts';

const MINUTE = 60_000;

/** A member who takes every possible action on drafts and on the project. */
export function* review(stage: Stage, owner: Owner): Task {
  const { schedule } = stage;
  const { random } = schedule;
  while (!stage.isCalm) {
    const until = schedule.now() + Math.round(random.wait(20 * MINUTE));
    yield { action: 'waits', until };
    if (stage.isCalm) return;
    const by = { actor: owner.name, now: schedule.clockOf(owner) };
    if (random.chance(0.2)) yield* changeProject(stage, by);
    else {
      const open = [...stage.store.drafts.values()].filter(
        ({ endedAt, state }) => endedAt === null || state === 'skipped',
      );
      if (open.length > 0) yield* actOn(stage, random.pick(open).id, by);
    }
  }
}

type Act = (draft: Draft, by: By) => DraftActionResult | null;

const ACTS: [name: string, act: (stage: Stage) => Act][] = [
  ['approves', ({ product }) => product.approve],
  ['skips', () => (draft, by) => skip(draft, { ...by, reason: null })],
  [
    'postpones',
    ({ schedule }) => {
      const ms = schedule.random.whole(1, 600) * MINUTE;
      return (draft, by) => postpone(draft, { ...by, until: by.now + ms, extend: ms > 300 * MINUTE });
    },
  ],
  [
    'edits',
    () => (draft, by) => edit(draft, { ...draft.content, body: `Hello from ${by.actor} at ${by.now}` }, by),
  ],
  ['opens an editor', () => openEditor],
  ['closes the editor', () => closeEditor],
  [
    'undoes',
    ({ store }) =>
      (draft, by) =>
        undo(draft, store.moves.get(draft.id) ?? [], by),
  ],
];

function* actOn(stage: Stage, draftId: string, by: By): Task {
  const { store, schedule } = stage;
  const [name, act] = schedule.random.pick(ACTS);
  const seen = store.drafts.get(draftId);
  yield { action: `${name}: ${draftId}` };
  const draft = store.drafts.get(draftId);
  if (!draft || !seen) return;
  const decision = act(stage)(draft, { ...by, hash: seen.contentHash });
  if (decision && !isRefused(decision)) write(store, decision);
}

/** Changes the project. A pause raises the epoch of claimed emails, and so does a suppression. Each is one commit. */
function* changeProject(stage: Stage, by: By): Task {
  const { store, schedule } = stage;
  const { random } = schedule;
  const person = random.pick([...store.people.values()]);
  const kind = random.pick(['pause', 'rule', 'suppress', 'address', 'mode', 'template'] as const);
  if (kind === 'pause') {
    store.policy = { ...store.policy, paused: true };
    withdraw(stage, null);
    yield { action: 'pauses the project', until: schedule.now() + Math.round(random.wait(30 * MINUTE)) };
    if (store.policy.paused) resume(stage, { actor: by.actor, now: schedule.now() });
  }
  if (kind === 'rule') {
    if (store.ruleIsOn) switchOff(stage, by);
    else switchOn(stage, by);
  }
  if (kind === 'suppress' && person.email !== null) {
    const until = random.chance(0.5) ? by.now + random.whole(1, 300) * MINUTE : null;
    suppress(stage, { address: normaliseAddress(person.email), until }, by.now);
  }
  if (kind === 'address') {
    store.people.set(person.userId, {
      ...person,
      email: `${person.userId}.${random.whole(1, 3)}@elsewhere.org`,
    });
  }
  if (kind === 'mode') changeMode(stage, by);
  if (kind === 'template')
    followTemplate(stage, random.pick(['good', 'good', 'fails in drafting', 'fails in sending']), by);
  yield { action: `${kind} of the project` };
}

/** Resumes the project. Drafts are released while it is still paused. */
export function resume({ store }: Pick<Stage, 'store'>, by: By): void {
  for (const draft of store.drafts.values()) {
    const moved = resumeDraft(draft, by);
    if (moved) write(store, moved);
  }
  store.policy = { ...store.policy, paused: false };
}

/** As in `switch-rule.ts`: drafts that wait for another cause anyway are left unchanged. */
const OTHER_HOLDS: ReadonlySet<string | null> = new Set([
  ...INCOMPLETE_REASONS,
  'postponed',
  'deferred',
  'no_address',
]);

function switchOff({ store }: Stage, { now, actor }: By): void {
  store.ruleIsOn = false;
  for (const draft of store.drafts.values()) {
    if (draft.state === 'held' && OTHER_HOLDS.has(draft.reason)) continue;
    const decision = hold(draft, { reason: 'rule_off', until: null, now, actor });
    if (!isRefused(decision)) write(store, decision);
  }
}

export function switchOn({ store }: Stage, { now, actor }: By): void {
  store.ruleIsOn = true;
  for (const draft of store.drafts.values()) {
    if (draft.state !== 'held' || draft.reason !== 'rule_off') continue;
    const released = release(draft, { now, actor, reason: 'rule_on' });
    if (isRefused(released)) continue;
    write(store, released);
    const later = resumeDraft(released.draft, { now, actor });
    if (later) write(store, later);
  }
}

function changeMode({ store, schedule }: Stage, by: By): void {
  const autopilotMs = schedule.random.chance(0.5) ? null : 60 * MINUTE;
  const mode = { autopilotMs, includeOpen: true, expiresAfterMs: 72 * 60 * MINUTE, ...by };
  for (const draft of store.drafts.values()) {
    const moved = setDraftMode(draft, mode);
    if (moved) write(store, moved);
  }
}

function suppress(
  { store }: Stage,
  { address, until }: { address: string; until: number | null },
  now: number,
): void {
  store.suppressed.set(address, { reason: 'manual', until });
  withdraw({ store }, address);
  if (until !== null) return;
  for (const draft of store.drafts.values()) {
    const email = store.people.get(draft.userId)?.email ?? null;
    if (email === null || normaliseAddress(email) !== address) continue;
    const decision = cancel(draft, { reason: 'suppressed', now });
    if (!isRefused(decision)) write(store, decision);
  }
}

/** As `withdrawClaims`: withdraws claims of a whole project, or to one address. */
function withdraw({ store }: Pick<Stage, 'store'>, address: string | null): void {
  for (const email of store.emails.values()) {
    const isAffected = address === null || email.address === address;
    if (email.state === 'claimed' && isAffected)
      store.emails.set(email.draftId, { ...email, epoch: email.epoch + 1 });
  }
}
