import type { RulesSwitched } from '@beckon/contract/dashboard';
import type { Database } from '../../platform/db/database.ts';
import { Fault } from '../../platform/fault.ts';
import { iso } from '../../platform/time/clock.ts';
import type { Actor } from '../drafts/index.ts';
import { checkReferences } from './check-rule.ts';
import { listRules, type WholeRule } from './definitions/load-rules.ts';
import { countRuns } from './runs/runs-of-rule.ts';
import { disableRule, enableRule } from './switch-rule.ts';

type Deps = Pick<Database, 'transaction' | 'query' | 'prepared' | 'clock'>;

export type SwitchMany = {
  projectId: number;
  actor: Actor;
  on: boolean;
  /** `updatedAt`: of the rule that the member saw. */
  rules: { id: string; updatedAt: string }[];
};

/** `switched`: the names of the rules that were enabled or disabled. */
export type SwitchedMany = { switched: string[]; refused: RulesSwitched['refused'] };

const GONE = 'The rule no longer exists';
const CHANGED = 'The rule was changed since the list was loaded';
const NO_RUN = 'The rule has not enrolled a user yet. Enable it on its page, which shows a backtest first';

/**
 * Enables or disables many rules, each in a transaction of its own, so that the project is locked only briefly. A rule that cannot be
 * switched is refused with its reason, and the others are switched.
 */
export async function switchMany(db: Deps, input: SwitchMany): Promise<SwitchedMany> {
  const { projectId, on } = input;
  const byId = new Map((await listRules(db, projectId)).map((rule) => [rule.id, rule]));
  const runs = on ? await countRuns(db, projectId) : new Map<string, unknown>();
  const seen = new Map(input.rules.map(({ id, updatedAt }) => [id.toLowerCase(), updatedAt]));
  const switched: string[] = [];
  const refused = new Map<string, string[]>();
  for (const [id, updatedAt] of seen) {
    const rule = byId.get(id);
    const refusal = rule
      ? (refusalOf(rule, { on, updatedAt, hasRuns: runs.has(id) }) ?? (await switchOne(db, rule, input)))
      : GONE;
    if (refusal === null) switched.push(rule?.name ?? id);
    else refused.set(refusal, [...(refused.get(refusal) ?? []), rule?.name ?? id]);
  }
  return {
    switched,
    refused: [...refused]
      .map(([message, rules]) => ({ message, rows: rules.length, rules }))
      .toSorted((a, b) => b.rows - a.rows),
  };
}

type Seen = { on: boolean; updatedAt: string; hasRuns: boolean };

/**
 * Returns why a rule is not switched, or null. A rule without any run was probably never enabled, and a member enables it after its
 * backtest. Disabling stops emails, so a change by another member does not prevent it.
 */
function refusalOf(
  { enabledAt, updatedAt: savedAt }: Pick<WholeRule, 'enabledAt' | 'updatedAt'>,
  { on, updatedAt, hasRuns }: Seen,
): string | null {
  if ((enabledAt !== null) === on) return `The rule is already ${on ? 'enabled' : 'disabled'}`;
  if (!on) return null;
  if (iso(savedAt) !== updatedAt) return CHANGED;
  return hasRuns ? null : NO_RUN;
}

/** Returns the reason of a refusal, or null. */
async function switchOne(
  db: Deps,
  { id, definition, updatedAt: seenAt }: WholeRule,
  { projectId, actor, on }: SwitchMany,
): Promise<string | null> {
  const one = { projectId, reference: id, actor };
  try {
    if (on) {
      await checkReferences(db, { projectId, definition });
      await enableRule(db, { ...one, confirmed: false, seenAt });
    } else await disableRule(db, one);
    return null;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return messageOf(error);
  }
}

const HELD = 'Drafts of the rule were held for more than a day. Enable it on its page to release them';

/** The message without the name of the rule, so that the same refusals of several rules are one. */
function messageOf({ code, details: [detail], message }: Fault): string {
  if (code === 'not_found') return GONE;
  if (code !== 'conflict') return message;
  return detail?.field === 'confirm' ? HELD : CHANGED;
}
