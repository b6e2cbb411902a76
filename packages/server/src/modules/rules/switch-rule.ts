import { Fault } from '../../platform/fault.ts';
import type { NewId } from '../../platform/ids.ts';
import {
  type Actor,
  type Draft,
  INCOMPLETE_REASONS,
  MEMBER_DECIDES,
  countOfRule,
  hold,
  release,
  isRefused,
  type DraftChange,
  needsConfirmation,
  resumeDraft,
} from '../drafts/index.ts';
import { cancelEnrollment } from './enrollment/store.ts';
import type { Enrollment } from './enrollment/enrollment.ts';
import { changeRuleMode, saveConflict } from './write-rule.ts';
import { findRule, type WholeRule } from './definitions/load-rules.ts';
import { switchRule } from './definitions/save-rule.ts';
import { takeSendLock, withdrawClaims, moveOpenDrafts } from '../sending/index.ts';
import { countRuns } from './runs/runs-of-rule.ts';
import { pauseRuns, resumeRuns, wakeRuns } from './runs/store.ts';
import { setTimersEarlier } from '../../platform/locks/timers.ts';
import { getSettings } from '../workspace/index.ts';
import { takeProjectLock } from '../../platform/locks/project-lock.ts';
import { incrementModel } from '../../platform/locks/store.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { startEnrollmentIn } from './enrollment/enroll.ts';

type Deps = Pick<Database, 'transaction' | 'clock'>;
type OfRule = { projectId: number; reference: string; actor: Actor };

/** `held`: the number of drafts held; `paused`: the number of runs paused. */
export type DisableResult = { rule: WholeRule; held: number; paused: number };

/**
 * Disables a rule under the project lock. It evaluates nothing more, and its drafts and runs pause until it is enabled. It waits for a
 * running claim, so that no email of the rule is claimed afterwards.
 */
export function disableRule(db: Deps, { projectId, reference, actor }: OfRule): Promise<DisableResult> {
  return db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    const existing = await findRule(tx, { projectId, reference });
    if (existing.enabledAt === null) return { rule: existing, held: 0, paused: 0 };
    await takeSendLock(tx, projectId);
    const rule = await switchRule({ tx, clock: db.clock, projectId }, existing, false);
    await incrementModel(tx, projectId);
    const now = db.clock.now();
    await cancelEnrollment(tx, { projectId, ruleId: rule.id, reason: 'rule_off', now });
    const { moved: held } = await moveOpenDrafts(tx, { projectId, ruleId: rule.id }, (draft) =>
      holdForRule(draft, { now, actor }),
    );
    // Drafts that are claimed but not yet being sent stay too.
    await withdrawClaims(tx, { projectId, ruleId: rule.id });
    return { rule, held, paused: await pauseRuns(tx, projectId, rule.id) };
  });
}

const RULE_OFF = 'rule_off';

/**
 * These drafts wait for a member, an event or a chosen time, and keep waiting for it. After that, the send check holds them for the rule.
 */
const WAITS_FOR_MORE: ReadonlySet<string | null> = new Set([
  ...MEMBER_DECIDES,
  ...INCOMPLETE_REASONS,
  'no_address',
  'postponed',
  'deferred',
]);

function holdForRule(draft: Draft, { now, actor }: { now: number; actor: Actor }): DraftChange[] {
  if (draft.state === 'held' && WAITS_FOR_MORE.has(draft.reason)) return [];
  const decided = hold(draft, { reason: RULE_OFF, until: null, now, actor });
  // A claimed draft is withdrawn separately, and an email that is being sent cannot be recalled.
  return isRefused(decided) ? [] : [decided];
}

/** `resumedRuns` and `resumed`: the numbers of runs and drafts that continue; `expired`: drafts canceled because they expired. */
export type EnableResult = {
  rule: WholeRule;
  resumedRuns: number;
  resumed: number;
  expired: number;
  /** The enrollment of the users who are already in its audiences, if it was requested. */
  enrollment: Enrollment | null;
};

type EnrollDeps = { newId: NewId };

/**
 * Enables a rule under the project lock. It evaluates records accepted from now on, and none from the time when it was disabled. Drafts
 * that it held continue with at least 15 minutes before they are sent, spread; expired ones are canceled. A large number of drafts held for
 * long needs a confirmation, `confirmed`. With `mode`, the rule has that mode from then on. `seenAt`: when the rule was last written, as
 * the member saw it; a rule that was saved since is refused.
 */
export function enableRule(
  db: Deps,
  input: OfRule & { confirmed: boolean; enroll?: EnrollDeps; mode?: WholeRule['mode']; seenAt?: number },
): Promise<EnableResult> {
  const { projectId, reference, actor, confirmed, enroll, mode, seenAt } = input;
  return db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    const now = db.clock.now();
    const before = await findRule(tx, { projectId, reference });
    if (seenAt !== undefined && seenAt !== before.updatedAt) throw saveConflict(before);
    const existing =
      mode === undefined ? before : await changeRuleMode(tx, { before, projectId, actor, mode, now });
    const enrollIn = async (rule: WholeRule): Promise<Enrollment | null> =>
      enroll ? startEnrollmentIn(tx, { rule, projectId, newId: enroll.newId, now }) : null;
    if (existing.enabledAt !== null)
      return { rule: existing, resumedRuns: 0, resumed: 0, expired: 0, enrollment: await enrollIn(existing) };
    const rule = await switchRule({ tx, clock: db.clock, projectId }, existing, true);
    await incrementModel(tx, projectId);
    const drafts = await releaseDrafts(tx, { projectId, ruleId: rule.id, now, actor });
    if (!confirmed && needsConfirmation(drafts)) throw unconfirmed(rule, drafts);
    const resumedRuns = await resumeRuns(tx, projectId, rule.id);
    await wakeRuns(tx, { projectId, ids: drafts.endedRuns, at: now });
    // Runs that became due in that time are due at once, and so are those whose drafts expired.
    if (resumedRuns > 0) await setTimersEarlier(tx, 'process', [{ projectId, nextAt: new Date(now) }]);
    const { dueAt, resumed: gone, expired } = drafts;
    if (dueAt !== null) await setTimersEarlier(tx, 'send', [{ projectId, nextAt: new Date(dueAt) }]);
    return { rule, resumedRuns, resumed: gone, expired, enrollment: await enrollIn(rule) };
  });
}

type DraftRelease = {
  dueAt: number | null;
  endedRuns: string[];
  resumed: number;
  expired: number;
  longHeld: number;
};

const LONG_HELD_MS = 24 * 3_600_000;

async function releaseDrafts(
  tx: Tx,
  { projectId, ruleId, now, actor }: { projectId: number; ruleId: string; now: number; actor: Actor },
): Promise<DraftRelease> {
  let [expired, longHeld] = [0, 0];
  const { moved, dueAt, endedRuns } = await moveOpenDrafts(tx, { projectId, ruleId }, (draft) => {
    const moves = releaseDraft(draft, { now, actor });
    if (moves.length === 0) return [];
    // Every change is a move, so nothing has happened to the draft since it was held.
    if (draft.updatedAt < now - LONG_HELD_MS) longHeld += 1;
    if (moves.at(-1)?.draft.state === 'canceled') expired += 1;
    return moves;
  });
  return { dueAt, endedRuns, resumed: moved - expired, expired, longHeld };
}

/** Restores the draft's earlier state; then its deadline moves, as after a pause. */
function releaseDraft(draft: Draft, { now, actor }: { now: number; actor: Actor }): DraftChange[] {
  if (draft.state !== 'held' || draft.reason !== RULE_OFF) return [];
  const released = release(draft, { now, actor, reason: 'rule_on' });
  if (isRefused(released)) return [];
  const later = resumeDraft(released.draft, { now, actor });
  return later ? [released, later] : [released];
}

function unconfirmed({ name }: WholeRule, { resumed: gone, expired, longHeld }: DraftRelease): Fault {
  const message = `${longHeld} drafts of the rule ${JSON.stringify(name)} were held for more than a day. If you enable it, ${gone} drafts continue and ${expired} are canceled because they expired. Confirm to continue`;
  return new Fault('conflict', { details: [{ message, field: 'confirm' }] });
}

/**
 * Shows the effect of switching the rule without doing it. `drafts`: those that would pause or continue. `others`: those that wait for
 * something else anyway or, if the rule is enabled, are canceled because they expired.
 */
export type SwitchPreview = {
  rule: WholeRule;
  open: number;
  drafts: number;
  others: number;
  sending: number;
  runs: number;
  longHeld: number;
  /** The mode that is proposed when the rule is enabled. */
  mode: WholeRule['mode'];
};

export async function previewSwitch(
  tx: Tx,
  { projectId, reference, now }: { projectId: number; reference: string; now: number },
): Promise<SwitchPreview> {
  const rule = await findRule(tx, { projectId, reference });
  const reasons = [...WAITS_FOR_MORE].filter((reason) => reason !== null);
  const query = { projectId, ruleId: rule.id, offReason: RULE_OFF, reasons, now };
  const { open, sending, heldFor, heldOff, expired, longHeld } = await countOfRule(tx, query);
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
      mode: rule.mode,
    };
  const { drafting } = (await getSettings(tx, projectId)).settings;
  return {
    rule,
    open,
    sending,
    drafts: heldOff - expired,
    others: expired,
    runs: runs?.paused ?? 0,
    longHeld: needsConfirmation({ longHeld }) ? longHeld : 0,
    mode: proposedMode({ rule, hasRuns: runs !== undefined, drafting }),
  };
}

type ModeFacts = { rule: Pick<WholeRule, 'mode'>; hasRuns: boolean; drafting: 'template' | 'model' };

/** Proposes autopilot for a new rule. A member reviews AI-written emails first, and a rule that was enabled before keeps its mode. */
function proposedMode({ rule, hasRuns, drafting }: ModeFacts): WholeRule['mode'] {
  if (hasRuns) return rule.mode;
  return drafting === 'model' ? 'draft' : 'autopilot';
}
