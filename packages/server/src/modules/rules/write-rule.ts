import type { Actor } from '../drafts/index.ts';
import { checkRule, readRule } from './check-rule.ts';
import { autopilotPeriod, type Rule } from './definitions/rule.ts';
import { createRules, editRule as edit } from './definitions/save-rule.ts';
import { findRule, listRules, type WholeRule } from './definitions/load-rules.ts';
import { wholeDocumentOf } from './definitions/print.ts';
import { type Ranked, reordered } from './definitions/reorder.ts';
import { cancelEnrollment } from './enrollment/store.ts';
import { changeModes } from '../sending/index.ts';
import { getSettings } from '../workspace/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { Fault } from '../../platform/fault.ts';
import { newModel, takeTurn } from '../../platform/locks/project-lock.ts';
import { dueEarlier } from '../../platform/locks/timers.ts';
import { iso } from '../../platform/time/clock.ts';
import { parseDuration } from '../../platform/time/time-text.ts';

/**
 * Creates a rule under the project lock; records processed from then on are evaluated by it. The rule is enabled unless `isOff` is set.
 * With AI drafting, it starts in draft-only mode, so that a member reviews each email, unless its document sets a mode.
 */
export async function createRule(
  db: Pick<Database, 'transaction' | 'clock'>,
  wanted: { projectId: number; document: unknown; actor?: Actor; isOff?: boolean },
): Promise<Rule> {
  const { projectId, actor = 'operator', isOff = false } = wanted;
  const rule = readRule(wanted.document);
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    await newModel(tx, projectId);
    const { drafting } = (await getSettings(tx, projectId)).settings;
    const mode = drafting === 'model' && !saysMode(wanted.document) ? 'draft' : rule.mode;
    const [created] = await createRules({ tx, clock: db.clock, actor, isOff }, projectId, [
      { ...rule, mode },
    ]);
    if (!created) throw new Error('a rule was made and is not there');
    await checkRule(tx, { projectId, definition: rule.definition, now: db.clock.now() });
    return created;
  });
}

function saysMode(document: unknown): boolean {
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
type EditedRule = { rule: WholeRule; drafts: number };

/**
 * Saves an edited rule, with the project locked. Active runs continue in the version that they started with. A new mode applies
 * at once to drafts that it takes off autopilot.
 *
 * A new version cancels a running enrollment: the definition decides whom it covers, and the preview was of the old one.
 */
export function editRule(db: Pick<Database, 'transaction' | 'clock'>, wanted: RuleEdit): Promise<EditedRule> {
  const { projectId, reference, document } = wanted;
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    const before = await findRule(tx, { projectId, reference });
    if (wanted.seenAt !== undefined && wanted.seenAt !== before.updatedAt) throw savedMeanwhile(before);
    const parsed = readRule(withName(document, before.name));
    const rule = await edit({ tx, clock: db.clock, projectId, actor: wanted.actor }, before, parsed);
    await newModel(tx, projectId);
    const now = db.clock.now();
    await checkRule(tx, { projectId, definition: rule.definition, now });
    if (rule.version !== before.version)
      await cancelEnrollment(tx, { projectId, ruleId: rule.id, reason: 'rule_edited', now });
    const drafts = await changeMode(tx, { before, rule, wanted, now });
    return { rule, drafts };
  });
}

function savedMeanwhile({ name, version, updatedAt }: WholeRule): Fault {
  const message = `The rule ${JSON.stringify(name)} was saved by another member as version ${version} at ${iso(updatedAt)}. Load that version first`;
  return new Fault('conflict', { details: [{ message, field: 'rule' }] });
}

function withName(document: unknown, name: string): unknown {
  const isObject = typeof document === 'object' && document !== null && !Array.isArray(document);
  return isObject ? { name, ...document } : document;
}

type Change = { before: WholeRule; rule: WholeRule; wanted: RuleEdit; now: number };

async function changeMode(tx: Tx, { before, rule, wanted, now }: Change): Promise<number> {
  const { projectId, includeOpen, actor } = wanted;
  const ofProject = (await getSettings(tx, projectId)).settings.autopilotMs;
  const [old, autopilotMs] = [before, rule].map((one) => autopilotPeriod(one, ofProject));
  if (autopilotMs === undefined || (autopilotMs === old && !includeOpen)) return 0;
  const { expiresAfterMs } = rule.definition;
  const mode = { ruleId: rule.id, autopilotMs, includeOpen, expiresAfterMs, now, actor };
  const { moved, dueAt } = await changeModes(tx, projectId, [mode]);
  if (dueAt !== null) await dueEarlier(tx, 'send', [{ projectId, nextAt: new Date(dueAt) }]);
  return moved;
}

type Deps = Pick<Database, 'transaction' | 'query' | 'prepared' | 'clock'>;
type OfRule = { projectId: number; reference: string; actor: Actor };

type ModeWanted = OfRule & {
  mode: Rule['mode'];
  /** For example `4h`; null means the project's setting; if omitted, it stays as it is. */
  deadline?: string | null;
  includeOpen: boolean;
};

/** Changes the mode of a rule by one step, on a member's request; everything else about the rule stays the same. */
export async function setMode(
  db: Deps,
  wanted: ModeWanted,
): Promise<EditedRule & { before: Pick<Rule, 'mode' | 'deadlineMs'> }> {
  const { projectId, reference, actor, mode, includeOpen } = wanted;
  const { mode: oldMode, deadlineMs, ...rest } = await findRule(db, { projectId, reference });
  const rule = { ...rest, mode, deadlineMs: deadlineOf(wanted, deadlineMs) };
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

function deadlineOf({ deadline }: ModeWanted, known: number | null): number | null {
  if (deadline === undefined || deadline === null) return deadline === null ? null : known;
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
  const taken = new Set((await listRules(db, projectId)).map((one) => one.name));
  const document = wholeDocumentOf({ ...rule, name: name ?? freeName(rule.name, taken) });
  return createRule(db, { projectId, document, actor, isOff: true });
}

const NAME_MAX_CHARS = 100;

function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let n = 1; ; n += 1) {
    const end = n === 1 ? ' (copy)' : ` (copy ${n})`;
    const free = `${Array.from(name)
      .slice(0, NAME_MAX_CHARS - end.length)
      .join('')}${end}`;
    if (!taken.has(free)) return free;
  }
}

/** Moves a rule before another one, or to the end, under the project lock. Returns the rules with a changed priority. */
export function reorderRules(
  db: Deps,
  { projectId, reference, actor, before }: OfRule & { before: string | null },
): Promise<Ranked[]> {
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    const rule = await findRule(tx, { projectId, reference });
    const other = before === null ? null : await findRule(tx, { projectId, reference: before });
    const rules = await listRules(tx, projectId);
    const changed = reordered(rules.map(toRanked), rule.id, other?.id ?? null);
    if (changed === null) throw crowded();
    const deps = { tx, clock: db.clock, projectId, actor };
    const done: Ranked[] = [];
    for (const one of rules) {
      const priority = changed.get(one.id);
      if (priority === undefined) continue;
      const { name, mode, deadlineMs, definition } = one;
      await edit(deps, one, { name, mode, deadlineMs, definition: { ...definition, priority } });
      done.push({ id: one.id, name, priority });
    }
    if (done.length > 0) await newModel(tx, projectId);
    return done;
  });
}

function toRanked({ id, name, definition: { priority } }: WholeRule): Ranked {
  return { id, name, priority };
}

function crowded(): Fault {
  const message = 'There are more rules than priorities. Give some rules the same priority';
  return new Fault('conflict', { details: [{ message, field: 'before' }] });
}
