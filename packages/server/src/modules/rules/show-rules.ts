import { WEBHOOK_TYPES } from '@beckon/contract';
import { loadModels } from '../audiences/index.ts';
import { countForLadder, suggest } from '../drafts/index.ts';
import { countReasons } from './decisions/store.ts';
import { autopilotPeriod, type Definition, type Reason, REASONS } from './definitions/rule.ts';
import { findRule, listRules, type WholeRule } from './definitions/load-rules.ts';
import { type Lint, lintRule } from './definitions/lint.ts';
import { ruleSentence } from './definitions/sentence.ts';
import { usesOf } from './definitions/uses.ts';
import { countRuns, type RunCounts } from './runs/runs-of-rule.ts';
import { listNames } from '../users/index.ts';
import { getSettings } from '../workspace/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** A rule in words, with its lints and whether it has stopped firing. */
export type RuleOverview = WholeRule & { sentence: string; lints: Lint[]; silence: Silence | null };

export type RuleDetail = RuleOverview & { runs: RunCounts; suggestion: ReturnType<typeof suggest> };

type RulesQuery = { projectId: number; now: number };

/** Lists all rules of a project by name. */
export async function listRuleOverviews(tx: Tx, query: RulesQuery): Promise<RuleOverview[]> {
  const rules = await listRules(tx, query.projectId);
  const context = await loadCheckContext(tx, query);
  const overviews: RuleOverview[] = [];
  for (const rule of rules) overviews.push(await overviewOf(tx, rule, context));
  return overviews;
}

/** Returns a rule by its id or name, with its number of runs and the suggested mode. */
export async function showRule(tx: Tx, query: RulesQuery & { reference: string }): Promise<RuleDetail> {
  const { projectId } = query;
  const rule = await findRule(tx, query);
  const overview = await overviewOf(tx, rule, await loadCheckContext(tx, query));
  const runs = (await countRuns(tx, projectId)).get(rule.id) ?? { active: 0, paused: 0, ended: {} };
  const { autopilotMs } = (await getSettings(tx, projectId)).settings;
  const ladder = await countForLadder(tx, projectId, rule.id);
  return { ...overview, runs, suggestion: suggest(ladder, autopilotPeriod(rule, autopilotMs)) };
}

/** The data of the project against which all its rules are checked. */
export type RuleCheckContext = RulesQuery & {
  audienceName: (id: string) => string | undefined;
  catalogue: Parameters<typeof lintRule>[1];
  events: string[];
  topics: { id: string }[];
  isNewProject: boolean;
  isUsageFraction: boolean;
  countsByName: Map<string, number>;
};

const DAY_MS = 86_400_000;
const QUIET_DAYS = 7;
const BEFORE_DAYS = 28;
const USAGE = { name: 'usage_threshold_reached', property: 'usagePercent' };

export async function loadCheckContext(tx: Tx, { projectId, now }: RulesQuery): Promise<RuleCheckContext> {
  const versions = (await loadModels(tx, [projectId])).get(projectId)?.versions ?? [];
  const audiences = new Map(versions.map(({ audienceId, name }) => [audienceId, name]));
  const names = await listNames(tx, projectId, now);
  const catalogue = names.flatMap(({ name, properties }) =>
    properties.flatMap(({ property, types }) => types.map((type) => ({ name, property, type }))),
  );
  const isUsageSent = catalogue.some(
    ({ name, property }) => name === USAGE.name && property === USAGE.property,
  );
  const largest = isUsageSent ? await findLargest(tx, { projectId, ...USAGE }) : null;
  return {
    projectId,
    now,
    audienceName: (id) => audiences.get(id),
    catalogue,
    // Outcomes of emails count as known events, because they occur sooner or later.
    events: [...names.map(({ name }) => name), ...WEBHOOK_TYPES],
    isNewProject: names.length === 0,
    isUsageFraction: largest !== null && largest <= 1,
    topics: (await getSettings(tx, projectId)).settings.topics,
    countsByName: await countByName(tx, { projectId, now, days: QUIET_DAYS }),
  };
}

async function overviewOf(tx: Tx, rule: WholeRule, context: RuleCheckContext): Promise<RuleOverview> {
  const { audienceName, catalogue, events, isNewProject, isUsageFraction, topics } = context;
  const { definition } = rule;
  return {
    ...rule,
    sentence: ruleSentence(definition, audienceName),
    lints: lintRule(definition, catalogue, { events, isNewProject, isUsageFraction, topics }),
    silence: await findSilence(tx, rule, context),
  };
}

async function findSilence(tx: Tx, rule: WholeRule, context: RuleCheckContext): Promise<Silence | null> {
  const { projectId, now, countsByName } = context;
  const { id: ruleId, definition, enabledAt } = rule;
  if (enabledAt === null) return null;
  const quietSince = now - QUIET_DAYS * DAY_MS;
  const lately = await countReasons(tx, { projectId, ruleId, since: quietSince });
  const all = await countReasons(tx, { projectId, ruleId, since: quietSince - BEFORE_DAYS * DAY_MS });
  const fired = lately.get('fired') ?? 0;
  const refusals = [...lately].flatMap(([reason, count]) =>
    isReason(reason) && reason !== 'fired' ? [{ reason, count }] : [],
  );
  const considered = refusals.reduce((sum, { count }) => sum + count, fired);
  const events = startsOf(rule).reduce((sum, name) => sum + (countsByName.get(name) ?? 0), 0);
  return silenceOf({
    definition,
    now,
    enabledAt,
    // Joins and dates are in no catalog; only the decision log has them.
    arrived: Math.max(events, considered),
    fired,
    firedBefore: (all.get('fired') ?? 0) - fired,
    refusals,
  });
}

/** The decision log also records what happened to emails. */
function isReason(reason: string): reason is Reason {
  return Object.hasOwn(REASONS, reason);
}

function startsOf({ definition }: WholeRule): string[] {
  const names = definition.when.flatMap((trigger) => {
    switch (trigger.kind) {
      case 'event':
      case 'relative':
        return [trigger.event];
      case 'absence':
        return [trigger.since];
      case 'audience':
      case 'date':
        return [];
      default:
        return trigger satisfies never;
    }
  });
  return [...new Set(names)];
}

export type SilenceFacts = {
  definition: Definition;
  now: number;
  /** Null while the rule is disabled. */
  enabledAt: number | null;
  /** How often its trigger arrived in the last 7 days. */
  arrived: number;
  /** The number of users for whom it fired in the last 7 days, and in the 28 days before. */
  fired: number;
  firedBefore: number;
  /** The other decisions of the last 7 days, in any order. */
  refusals: { reason: Reason; count: number }[];
};

type Silence = { code: 'no_enrollments' | 'events_stopped'; message: string };

const QUIET_MS = 7 * 86_400_000;
/** Decisions that are not refusals. A user in the holdout group gets no email, but passed every check. */
const ENTERED: ReadonlySet<Reason> = new Set<Reason>(['fired', 'holdout']);

/** Returns whether an enabled rule stopped firing, probably by mistake, and the most likely cause. */
export function silenceOf(facts: SilenceFacts): Silence | null {
  const { now, enabledAt, arrived, fired, firedBefore } = facts;
  if (enabledAt === null || now - enabledAt < QUIET_MS || fired > 0) return null;
  if (facts.refusals.some(({ reason, count }) => count > 0 && ENTERED.has(reason))) return null;
  if (arrived > 0) return isUndecided(facts) ? null : noEnrollments(facts);
  if (firedBefore === 0) return null;
  return {
    code: 'events_stopped',
    message: `${startWords(facts.definition)} did not arrive in the last 7 days. The rule fired ${timesWords(firedBefore)} in the 28 days before.`,
  };
}

/** A rule that waits for a time decides only then, so recent events may have no decision yet. */
function isUndecided(facts: SilenceFacts): boolean {
  const waits = facts.definition.when.every(({ kind }) => kind !== 'event' && kind !== 'audience');
  return waits && refusalsOf(facts).length === 0;
}

function refusalsOf({ refusals }: SilenceFacts): SilenceFacts['refusals'] {
  return refusals.filter(({ reason, count }) => count > 0 && reason !== 'starts_later');
}

function noEnrollments(facts: SilenceFacts): Silence {
  const { definition, arrived } = facts;
  const [most] = refusalsOf(facts).toSorted((a, b) => b.count - a.count);
  const why = most
    ? `Most common reason (${timesWords(most.count)}): ${REASONS[most.reason]}.`
    : 'The decision log has no reason.';
  return {
    code: 'no_enrollments',
    message: `${startWords(definition)} arrived ${timesWords(arrived)} in the last 7 days, and the rule enrolled no user. ${why}`,
  };
}

function startWords(definition: Definition): string {
  const names = usesOf(definition).flatMap(({ event, starts }) => (starts ? [event] : []));
  return names.length === 0 ? 'The trigger of this rule' : [...new Set(names)].join(' or ');
}

function timesWords(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** How many of the newest events are searched. Older ones say little about future ones. */
const EVENTS_MAX = 20_000;

/** Returns the largest recent number in a property, or null without one. */
async function findLargest(
  tx: Tx,
  { projectId, name, property }: { projectId: number; name: string; property: string },
): Promise<number | null> {
  const rows = await tx.query<{ largest: number | null }>(
    `SELECT max((e.properties ->> $3)::float8) AS largest FROM (
       SELECT name, properties FROM beckon.event WHERE project_id = $1 ORDER BY received_at DESC LIMIT $4
     ) e WHERE e.name = $2 AND jsonb_typeof(e.properties -> $3) = 'number'`,
    [projectId, name, property, EVENTS_MAX],
  );
  return rows[0]?.largest ?? null;
}

/** Counts the events of each name on the last days, including today. */
async function countByName(
  tx: Tx,
  { projectId, now, days }: { projectId: number; now: number; days: number },
): Promise<Map<string, number>> {
  const rows = await tx.query<{ name: string; count: number }>(
    `SELECT name, sum(count)::bigint AS count FROM beckon.event_volume
     WHERE project_id = $1 AND day > ($2::timestamptz AT TIME ZONE 'UTC')::date - $3::int GROUP BY name`,
    [projectId, new Date(now), days],
  );
  return new Map(rows.map((row) => [row.name, row.count]));
}
