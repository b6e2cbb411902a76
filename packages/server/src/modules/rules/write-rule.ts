import type { Actor } from '../drafts/index.ts';
import { checkRule, readRule } from './check-rule.ts';
import { autopilotPeriod, type Rule } from './definitions/rule.ts';
import { createRules, editRule as edit } from './definitions/save-rule.ts';
import { findRule, listRules, type WholeRule } from './definitions/load-rules.ts';
import { wholeDocumentOf } from './definitions/print.ts';
import { type RankedRule, reorderPriorities } from './definitions/reorder.ts';
import { cancelEnrollment } from './enrollment/store.ts';
import { changeModes } from '../sending/index.ts';
import { getSettings } from '../workspace/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { Fault } from '../../platform/fault.ts';
import { takeProjectLock } from '../../platform/locks/project-lock.ts';
import { incrementModel } from '../../platform/locks/store.ts';
import { setTimersEarlier } from '../../platform/locks/timers.ts';
import { iso } from '../../platform/time/clock.ts';
import { parseDuration } from '../../platform/time/time-text.ts';

/**
 * Creates a rule under the project lock; records processed from then on are evaluated by it. The rule is enabled unless `isOff` is set.
 * With AI drafting, it starts in draft-only mode, so that a member reviews each email, unless its document sets a mode.
 */
export async function createRule(
  db: Pick<Database, 'transaction' | 'clock'>,
  input: { projectId: number; document: unknown; actor?: Actor; isOff?: boolean },
): Promise<Rule> {
  const { projectId, actor = 'operator', isOff = false } = input;
  const rule = readRule(input.document);
  return db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    await incrementModel(tx, projectId);
    const { drafting } = (await getSettings(tx, projectId)).settings;
    const mode = drafting === 'model' && !hasMode(input.document) ? 'draft' : rule.mode;
    const [created] = await createRules({ tx, clock: db.clock, actor, isOff }, projectId, [
      { ...rule, mode },
    ]);
    if (!created) throw new Error('a rule was made and is not there');
    await checkRule(tx, { projectId, definition: rule.definition, now: db.clock.now() });
    return created;
  });
}

function hasMode(document: unknown): boolean {
  return typeof document === 'object' && document !== null && Object.hasOwn(document, 'mode');
}

type RuleEdit = {
  projectId: number;
  reference: string;
  /** The whole rule. Only its name may be omitted, and is then kept. */
  document: unknown;
  /** For a change to autopilot: open drafts get the whole period too. */
  includeOpen: boolean;
  actor: Actor;
  /** When the rule was last written, as its editor saw it. A later save is not overwritten. */
  seenAt?: number;
};

/** `drafts`: the number of open drafts with a changed mode. */
type RuleEditResult = { rule: WholeRule; drafts: number };

/**
 * Saves an edited rule, with the project locked. Active runs continue in the version that they started with. A new mode applies
 * at once to drafts that it takes off autopilot.
 *
 * A new version cancels a running enrollment: the definition decides whom it covers, and the preview was of the old one.
 */
export function editRule(
  db: Pick<Database, 'transaction' | 'clock'>,
  input: RuleEdit,
): Promise<RuleEditResult> {
  const { projectId, reference, document } = input;
  return db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    const before = await findRule(tx, { projectId, reference });
    if (input.seenAt !== undefined && input.seenAt !== before.updatedAt) throw saveConflict(before);
    const parsed = readRule(withName(document, before.name));
    const rule = await edit({ tx, clock: db.clock, projectId, actor: input.actor }, before, parsed);
    await incrementModel(tx, projectId);
    const now = db.clock.now();
    await checkRule(tx, { projectId, definition: rule.definition, now });
    if (rule.version !== before.version)
      await cancelEnrollment(tx, { projectId, ruleId: rule.id, reason: 'rule_edited', now });
    const drafts = await changeMode(tx, { before, rule, input, now });
    return { rule, drafts };
  });
}

export function saveConflict({ name, version, updatedAt }: WholeRule): Fault {
  const message = `The rule ${JSON.stringify(name)} was saved by another member as version ${version} at ${iso(updatedAt)}. Load that version first`;
  return new Fault('conflict', { details: [{ message, field: 'rule' }] });
}

function withName(document: unknown, name: string): unknown {
  const isObject = typeof document === 'object' && document !== null && !Array.isArray(document);
  return isObject ? { name, ...document } : document;
}

type Change = {
  before: WholeRule;
  rule: WholeRule;
  input: Pick<RuleEdit, 'projectId' | 'includeOpen' | 'actor'>;
  now: number;
};

async function changeMode(tx: Tx, { before, rule, input, now }: Change): Promise<number> {
  const { projectId, includeOpen, actor } = input;
  const ofProject = (await getSettings(tx, projectId)).settings.autopilotMs;
  const [old, autopilotMs] = [before, rule].map((version) => autopilotPeriod(version, ofProject));
  if (autopilotMs === undefined || (autopilotMs === old && !includeOpen)) return 0;
  const { expiresAfterMs } = rule.definition;
  const mode = { ruleId: rule.id, autopilotMs, includeOpen, expiresAfterMs, now, actor };
  const { moved, dueAt } = await changeModes(tx, projectId, [mode]);
  if (dueAt !== null) await setTimersEarlier(tx, 'send', [{ projectId, nextAt: new Date(dueAt) }]);
  return moved;
}

type RuleModeChange = { before: WholeRule; projectId: number; actor: Actor; mode: Rule['mode']; now: number };

/** Changes the mode of a rule. The caller holds the project lock. */
export async function changeRuleMode(
  tx: Tx,
  { before, projectId, actor, mode, now }: RuleModeChange,
): Promise<WholeRule> {
  if (mode === before.mode) return before;
  const rule = await edit({ tx, clock: { now: () => now }, projectId, actor }, before, { ...before, mode });
  await incrementModel(tx, projectId);
  await changeMode(tx, { before, rule, input: { projectId, includeOpen: false, actor }, now });
  return rule;
}

type Deps = Pick<Database, 'transaction' | 'query' | 'prepared' | 'clock'>;
type OfRule = { projectId: number; reference: string; actor: Actor };

type ModeInput = OfRule & {
  mode: Rule['mode'];
  /** For example `4h`; null means the project's setting; if omitted, it stays as it is. */
  deadline?: string | null;
  includeOpen: boolean;
};

/** Changes the mode of a rule by one step, on a member's request; everything else about the rule stays the same. */
export async function setMode(
  db: Deps,
  input: ModeInput,
): Promise<RuleEditResult & { before: Pick<Rule, 'mode' | 'deadlineMs'> }> {
  const { projectId, reference, actor, mode, includeOpen } = input;
  const { mode: oldMode, deadlineMs, ...rest } = await findRule(db, { projectId, reference });
  const rule = { ...rest, mode, deadlineMs: deadlineOf(input, deadlineMs) };
  const edited = await editRule(db, {
    projectId,
    reference: rest.id,
    document: wholeDocumentOf(rule),
    includeOpen,
    actor,
    seenAt: rest.updatedAt,
  });
  return { ...edited, before: { mode: oldMode, deadlineMs } };
}

function deadlineOf({ deadline }: ModeInput, current: number | null): number | null {
  if (deadline === undefined || deadline === null) return deadline === null ? null : current;
  const ms = parseDuration(deadline);
  if (ms !== undefined) return ms;
  const message = `deadline must be a whole number and s, m, h or d, such as 4h`;
  throw new Fault('validation_failed', { details: [{ message, field: 'deadline' }] });
}

/** Copies a rule under another name, disabled, so that no user gets two emails because of a copy. */
export async function duplicateRule(
  db: Deps,
  { projectId, reference, actor, name }: OfRule & { name: string | null },
): Promise<Rule> {
  const rule = await findRule(db, { projectId, reference });
  const names = new Set((await listRules(db, projectId)).map((other) => other.name));
  const document = wholeDocumentOf({ ...rule, name: name ?? freeName(rule.name, names) });
  return createRule(db, { projectId, document, actor, isOff: true });
}

const NAME_MAX_CHARS = 100;

function freeName(name: string, names: ReadonlySet<string>): string {
  for (let n = 1; ; n += 1) {
    const end = n === 1 ? ' (copy)' : ` (copy ${n})`;
    const free = `${Array.from(name)
      .slice(0, NAME_MAX_CHARS - end.length)
      .join('')}${end}`;
    if (!names.has(free)) return free;
  }
}

/** Moves a rule before another one, or to the end, under the project lock. Returns the rules with a changed priority. */
export function reorderRules(
  db: Deps,
  { projectId, reference, actor, before }: OfRule & { before: string | null },
): Promise<RankedRule[]> {
  return db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    const rule = await findRule(tx, { projectId, reference });
    const other = before === null ? null : await findRule(tx, { projectId, reference: before });
    const rules = await listRules(tx, projectId);
    const changed = reorderPriorities(rules.map(toRanked), rule.id, other?.id ?? null);
    if (changed === null) throw noFreePriority();
    const deps = { tx, clock: db.clock, projectId, actor };
    const changes: RankedRule[] = [];
    for (const entry of rules) {
      const priority = changed.get(entry.id);
      if (priority === undefined) continue;
      const { name, mode, deadlineMs, definition } = entry;
      await edit(deps, entry, { name, mode, deadlineMs, definition: { ...definition, priority } });
      changes.push({ id: entry.id, name, priority });
    }
    if (changes.length > 0) await incrementModel(tx, projectId);
    return changes;
  });
}

function toRanked({ id, name, definition: { priority } }: WholeRule): RankedRule {
  return { id, name, priority };
}

function noFreePriority(): Fault {
  const message = 'There are more rules than priorities. Give some rules the same priority';
  return new Fault('conflict', { details: [{ message, field: 'before' }] });
}
