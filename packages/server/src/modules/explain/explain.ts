import { iso } from '../../platform/time/clock.ts';
import {
  type DecisionCount,
  listDecisionsOf,
  type ActiveRule,
  findRule,
  listTimersOf,
  type Timer,
  loadProjectModels,
  type Model,
  loadSnapshots,
  createEvaluationContext,
} from '../rules/index.ts';
import {
  findNewest,
  findPeople,
  type PersonId,
  personKey,
  type Person,
  unknownPerson,
} from '../users/index.ts';
import { readProjectLock } from '../../platform/locks/project-lock.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { SendServices } from '../delivery/index.ts';
import { listAudiencesOf } from './show-person.ts';
import { inSnapshot } from '../../platform/db/session-transactions.ts';
import { type DraftNow, draftsNow } from './drafts-now.ts';
import { type RuleContext, type RuleNow, ruleNow } from './rule-now.ts';
import { findEarlierOccurrences } from './one-fewer-event.ts';
import { NOT_CONSIDERED, NOT_CONSIDERED_WORDS, reasonWords } from './reason-sentences.ts';

/** One row of the decision log. For a rule that was never evaluated for this user, a row that was evaluated now. */
export type ExplainedRow = {
  rule: string;
  fired: boolean;
  reason: string;
  detail: Record<string, unknown>;
  at: string;
  sentence: string;
  /** The key of the entry; null for a row without an entry. */
  key: string | null;
  count: number;
  first_at: string | null;
  /** Open drafts of this rule and the send checks that hold them now. Like `now`, only on the newest row of each rule. */
  drafts: DraftNow[];
  /** The decision if the trigger of the rule arrived now. */
  now: RuleNow | null;
};

export type ExplainQuery = PersonId & {
  /** The id or name of a rule; null: all rules. */
  rule: string | null;
};

const ROWS_MAX = 10_000;

/**
 * Explains why emails were drafted for a user, and why not: the rows of the decision log, and what the same functions decide now. Changes
 * nothing.
 */
export function explainPerson(
  { db, sendServices }: { db: Pick<Database, 'session' | 'clock'>; sendServices: SendServices },
  query: ExplainQuery,
): Promise<ExplainedRow[]> {
  return inSnapshot(db, async (tx) => {
    const now = db.clock.now();
    const { projectId, userId } = query;
    const lock = await readProjectLock(tx, projectId);
    const timers = await listTimersOf(tx, { projectId, userId });
    const model = (await loadProjectModels(tx, [lock], { now, versions: timers })).get(projectId);
    if (!model) throw new Error(`project ${projectId} has no settings`);
    const rules = await selectRules(tx, query, model);
    const [person] = await findPeople(tx, [{ projectId, userId }]);
    if (!person) throw unknownPerson(userId);
    const evaluated = await evaluateAll(tx, rules, { person, model, timers, now, sendServices });
    const ruleFilter = query.rule === null ? {} : { ruleId: rules[0]?.id ?? '' };
    const decisionCounts = await listDecisionsOf(tx, { projectId, userId, ...ruleFilter, limit: ROWS_MAX });
    const names = (ruleId: string): string => model.rules.byId.get(ruleId)?.name ?? ruleId;
    return [
      ...explainedRows(decisionCounts, { evaluated, names }),
      ...rules
        .filter(({ id }) => !decisionCounts.some(({ ruleId }) => ruleId === id))
        .flatMap((rule) => rowOfNow(rule, evaluated.get(rule.id), now)),
    ];
  });
}

async function selectRules(tx: Tx, { projectId, rule }: ExplainQuery, model: Model): Promise<ActiveRule[]> {
  const all = [...model.rules.byId.values()];
  if (rule === null) return all;
  const { id } = await findRule(tx, { projectId, reference: rule });
  return all.filter((candidate) => candidate.id === id);
}

type EvaluatedRules = Map<string, { now: RuleNow; drafts: DraftNow[] }>;
type ExplainContext = {
  person: Person;
  model: Model;
  timers: Timer[];
  now: number;
  sendServices: SendServices;
};

async function evaluateAll(tx: Tx, rules: ActiveRule[], context: ExplainContext): Promise<EvaluatedRules> {
  const ruleContext = await loadRuleContext(tx, rules, context);
  const { projectId, userId } = context.person;
  const drafts = await draftsNow(tx, { projectId, userId }, context);
  return new Map(
    rules.map((rule) => [rule.id, { now: ruleNow(rule, ruleContext), drafts: drafts.get(rule.id) ?? [] }]),
  );
}

/** Reads everything that the rules may need about the user, as the engine does when a record of the user arrives. */
async function loadRuleContext(tx: Tx, present: ActiveRule[], context: ExplainContext): Promise<RuleContext> {
  const { person, model, timers, now } = context;
  const rules = [...present, ...olderVersions(model, timers)];
  const { projectId, userId } = person;
  const activity = { person, model, items: [], isWatched: true };
  const snapshots = await loadSnapshots(tx, [{ activity, rules: new Set(rules), hasOpenRun: true }], {
    now,
    locks: false,
  });
  const snapshot = snapshots.get(personKey(person));
  if (!snapshot) throw new Error('a user was not looked up');
  const names = new Set(rules.flatMap(eventsStarting));
  const newest = await findNewest(
    tx,
    [...names].map((name) => ({ projectId, userId, name })),
  );
  const byName = new Map(newest.map((event) => [event.name, event]));
  const audiences = await listAudiencesOf(tx, { projectId, userId });
  return {
    context: createEvaluationContext({ person, model }, snapshot, { now, newId: () => '' }),
    lastSeen: (name) => byName.get(name),
    timers,
    memberSince: new Map(audiences.map(({ id, since }) => [id, since])),
    fewer: await findEarlierOccurrences(tx, rules, { projectId, userId, now }),
  };
}

/** Returns the older rule versions that set timers. A timer is evaluated by the version that set it. */
function olderVersions({ rules }: Model, timers: Timer[]): ActiveRule[] {
  return timers.flatMap(({ ruleId, version }) => {
    const rule = rules.byId.get(ruleId)?.version === version ? undefined : rules.byVersion(ruleId, version);
    return rule ?? [];
  });
}

function eventsStarting({ definition }: ActiveRule): string[] {
  return definition.when.flatMap((trigger) => {
    if (trigger.kind === 'audience' || trigger.kind === 'date') return [];
    return trigger.kind === 'absence' ? trigger.since : trigger.event;
  });
}

function explainedRows(
  decisionCounts: DecisionCount[],
  { evaluated, names }: { evaluated: EvaluatedRules; names: (ruleId: string) => string },
): ExplainedRow[] {
  const described = new Set<string>();
  return decisionCounts.map(({ ruleId, key, reason, detail, at, count, firstAt }): ExplainedRow => {
    const ofRule = described.has(ruleId) ? undefined : evaluated.get(ruleId);
    described.add(ruleId);
    return {
      rule: names(ruleId),
      fired: reason === 'fired',
      reason,
      detail,
      at: iso(at),
      sentence: reasonWords(reason, Object.hasOwn(detail, 'draft_id') ? 'draft' : 'rule', detail),
      key,
      count,
      first_at: iso(firstAt),
      drafts: ofRule?.drafts ?? [],
      now: ofRule?.now ?? null,
    };
  });
}

/** Builds the row of a rule without decisions: what the rule waits for, when that was last seen, and what would refuse. */
function rowOfNow(
  { name, enabledAt }: ActiveRule,
  evaluated: { now: RuleNow; drafts: DraftNow[] } | undefined,
  now: number,
): ExplainedRow[] {
  if (!evaluated) return [];
  const isOff = enabledAt === null;
  const { triggers, would_fire, only_if } = evaluated.now;
  return [
    {
      rule: name,
      fired: false,
      reason: isOff ? 'rule_off' : NOT_CONSIDERED,
      detail: { evaluated_now: true, would_fire, triggers, only_if },
      at: iso(now),
      sentence: isOff ? reasonWords('rule_off', 'rule') : NOT_CONSIDERED_WORDS,
      key: null,
      count: 0,
      first_at: null,
      ...evaluated,
    },
  ];
}
