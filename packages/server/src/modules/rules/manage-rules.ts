import { parseDuration } from '../../platform/time/duration.ts';
import { Fault } from '../../platform/fault.ts';
import type { Actor } from '../drafts/index.ts';
import { editRule as edit } from './definitions/edit-rule.ts';
import { findRule, listRules, type WholeRule } from './definitions/find-rule.ts';
import { type Ranked, reordered } from './definitions/reorder.ts';
import type { Rule } from './definitions/rule.ts';
import { wholeDocumentOf } from './definitions/print.ts';
import { newModel, takeTurn } from '../../platform/locks/project-lock.ts';
import type { Database } from '../../platform/db/database.ts';
import { createRule } from './create-rule.ts';
import { type EditedRule, editRule } from './edit-rule.ts';

type Deps = Pick<Database, 'transaction' | 'query' | 'prepared' | 'clock'>;
type OfRule = { projectId: number; reference: string; actor: Actor };

export type ModeWanted = OfRule & {
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
