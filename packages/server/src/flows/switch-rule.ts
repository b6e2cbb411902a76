import { Fault } from '../base/fault.ts';
import type { NewId } from '../base/ids.ts';
import {
  type Actor,
  countOfRule,
  type Draft,
  hold,
  isRefused,
  type Moved,
  needsConfirmation,
  NOT_WHOLE,
  PERSON_DECIDES,
  release,
  resumed,
} from '../features/drafts/index.ts';
import { cancelEnrollment, type Enrollment } from '../features/enrollments/index.ts';
import { findRule, switchRule, type WholeRule } from '../features/rules/index.ts';
import { takeSendTurn, withdrawClaims } from '../features/sending/index.ts';
import { countRuns, pauseRuns, resumeRuns, wakeRuns } from '../features/sequences/index.ts';
import { dueEarlier, newModel, takeTurn } from '../features/turns/index.ts';
import type { Database, Tx } from '../io/db/index.ts';
import { startEnrollmentIn } from './enroll/index.ts';
import { moveOpenDrafts } from './open-drafts.ts';

type Deps = Pick<Database, 'transaction' | 'clock'>;
type OfRule = { projectId: number; reference: string; actor: Actor };

/** `held`: the number of drafts held; `paused`: the number of runs paused. */
export type Disabled = { rule: WholeRule; held: number; paused: number };

/**
 * Under the project's turn. Nothing is considered by it any more; its drafts and those who are under way stand still where
 * they are, until it is switched on again. Whoever is claiming just now is waited for: nothing of it leaves afterwards.
 */
export function disableRule(db: Deps, { projectId, reference, actor }: OfRule): Promise<Disabled> {
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    const known = await findRule(tx, { projectId, reference });
    if (known.enabledAt === null) return { rule: known, held: 0, paused: 0 };
    await takeSendTurn(tx, projectId);
    const rule = await switchRule({ tx, clock: db.clock, projectId }, known, false);
    await newModel(tx, projectId);
    const now = db.clock.now();
    await cancelEnrollment(tx, { projectId, ruleId: rule.id, reason: 'rule_off', now });
    const { moved: held } = await moveOpenDrafts(tx, { projectId, ruleId: rule.id }, (draft) =>
      holdForRule(draft, { now, actor }),
    );
    // What is claimed but not on its way yet stays too.
    await withdrawClaims(tx, { projectId, ruleId: rule.id });
    return { rule, held, paused: await pauseRuns(tx, projectId, rule.id) };
  });
}

const RULE_OFF = 'rule_off';

/**
 * These wait for a person, an event or a moment that was chosen, and have to go on waiting for it. When that has come, the
 * gate holds them for the rule.
 */
const WAITS_FOR_MORE: ReadonlySet<string | null> = new Set([
  ...PERSON_DECIDES,
  ...NOT_WHOLE,
  'no_address',
  'snoozed',
  'deferred',
]);

function holdForRule(draft: Draft, { now, actor }: { now: number; actor: Actor }): Moved[] {
  if (draft.state === 'held' && WAITS_FOR_MORE.has(draft.reason)) return [];
  const decided = hold(draft, { reason: RULE_OFF, until: null, now, actor });
  // What is claimed is put back by itself, and what is on its way cannot be called back.
  return isRefused(decided) ? [] : [decided];
}

/** `thawed`: runs that go on; `resumed`: drafts that do; `expired`: drafts that were not worth sending any more. */
export type Enabled = {
  rule: WholeRule;
  thawed: number;
  resumed: number;
  expired: number;
  /** Of the users who are in its audiences already, if that was asked for. */
  enrollment: Enrollment | null;
};

type Enroll = { newId: NewId };

/**
 * Under the project's turn. It hears of what is accepted from now on, and nothing of the time when it was off; drafts that it
 * held go on with a quarter of an hour before them at least, spread, and those that expired are canceled. Many that were
 * held for long need a person's word, `confirmed`.
 */
export function enableRule(
  db: Deps,
  { projectId, reference, actor, confirmed, enroll }: OfRule & { confirmed: boolean; enroll?: Enroll },
): Promise<Enabled> {
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    const known = await findRule(tx, { projectId, reference });
    const enrollIn = async (rule: WholeRule): Promise<Enrollment | null> =>
      enroll ? startEnrollmentIn(tx, { rule, projectId, newId: enroll.newId, now: db.clock.now() }) : null;
    if (known.enabledAt !== null)
      return { rule: known, thawed: 0, resumed: 0, expired: 0, enrollment: await enrollIn(known) };
    const rule = await switchRule({ tx, clock: db.clock, projectId }, known, true);
    await newModel(tx, projectId);
    const now = db.clock.now();
    const drafts = await letGo(tx, { projectId, ruleId: rule.id, now, actor });
    if (!confirmed && needsConfirmation(drafts)) throw unconfirmed(rule, drafts);
    const thawed = await resumeRuns(tx, projectId, rule.id);
    await wakeRuns(tx, { projectId, ids: drafts.endedRuns, at: now });
    // Those whose time came meanwhile are due at once, and so are those whose drafts expired.
    if (thawed > 0) await dueEarlier(tx, 'process', [{ projectId, nextAt: new Date(now) }]);
    const { dueAt, resumed: gone, expired } = drafts;
    if (dueAt !== null) await dueEarlier(tx, 'send', [{ projectId, nextAt: new Date(dueAt) }]);
    return { rule, thawed, resumed: gone, expired, enrollment: await enrollIn(rule) };
  });
}

type LetGo = {
  dueAt: number | null;
  endedRuns: string[];
  resumed: number;
  expired: number;
  longHeld: number;
};

const LONG_HELD_MS = 24 * 3_600_000;

async function letGo(
  tx: Tx,
  { projectId, ruleId, now, actor }: { projectId: number; ruleId: string; now: number; actor: Actor },
): Promise<LetGo> {
  let [expired, longHeld] = [0, 0];
  const { moved, dueAt, endedRuns } = await moveOpenDrafts(tx, { projectId, ruleId }, (draft) => {
    const moves = letGoOn(draft, { now, actor });
    if (moves.length === 0) return [];
    // Nothing has happened to it since it was held, for whatever does is a move.
    if (draft.updatedAt < now - LONG_HELD_MS) longHeld += 1;
    if (moves.at(-1)?.draft.state === 'canceled') expired += 1;
    return moves;
  });
  return { dueAt, endedRuns, resumed: moved - expired, expired, longHeld };
}

/** It goes on as what it was; then its deadline moves, as it does after a pause. */
function letGoOn(draft: Draft, { now, actor }: { now: number; actor: Actor }): Moved[] {
  if (draft.state !== 'held' || draft.reason !== RULE_OFF) return [];
  const released = release(draft, { now, actor, reason: 'rule_on' });
  if (isRefused(released)) return [];
  const later = resumed(released.draft, { now, actor });
  return later ? [released, later] : [released];
}

function unconfirmed({ name }: WholeRule, { resumed: gone, expired, longHeld }: LetGo): Fault {
  const message = `${longHeld} drafts of the rule ${JSON.stringify(name)} were held for more than a day. If you enable it, ${gone} drafts continue and ${expired} are canceled because they expired. Confirm to continue`;
  return new Fault('conflict', { details: [{ message, field: 'confirm' }] });
}

/**
 * What switching it the other way would do, asked before it is done. `drafts`: those that would stand still or go on; `others`:
 * those that wait for something else anyway or, switched on, are canceled because they expired.
 */
export type SwitchPreview = {
  rule: WholeRule;
  open: number;
  drafts: number;
  others: number;
  sending: number;
  runs: number;
  longHeld: number;
};

export async function previewSwitch(
  tx: Tx,
  { projectId, reference, now }: { projectId: number; reference: string; now: number },
): Promise<SwitchPreview> {
  const rule = await findRule(tx, { projectId, reference });
  const reasons = [...WAITS_FOR_MORE].filter((reason) => reason !== null);
  const asked = { projectId, ruleId: rule.id, offReason: RULE_OFF, reasons, now };
  const { open, sending, heldFor, heldOff, expired, longHeld } = await countOfRule(tx, asked);
  const runs = (await countRuns(tx, projectId)).get(rule.id);
  if (rule.enabledAt !== null)
    return {
      rule,
      open,
      sending,
      drafts: open - sending - heldFor,
      others: heldFor,
      runs: runs?.active ?? 0,
      longHeld: 0,
    };
  return {
    rule,
    open,
    sending,
    drafts: heldOff - expired,
    others: expired,
    runs: runs?.paused ?? 0,
    longHeld: needsConfirmation({ longHeld }) ? longHeld : 0,
  };
}
