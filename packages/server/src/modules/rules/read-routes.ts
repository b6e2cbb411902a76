import {
  type ExcludedUsers,
  FILTER_KEYS,
  type ListResponse,
  type RuleResults as ShownResults,
  type RuleVersion,
  type RunListed,
  type RuleDay,
  type RuleLift,
} from '@beckon/contract/dashboard';
import { audienceNames } from './audience-names.ts';
import { countForLadder, type LadderCounts } from '../drafts/index.ts';
import { countReasons } from './decisions/store.ts';
import { findRule, listRuleVersions, type WholeRule } from './definitions/load-rules.ts';
import { wholeDocumentOf } from './definitions/print.ts';
import { ruleSentence, stepLabel } from './definitions/sentence.ts';
import { exclusionsOf } from './flow/exclusions.ts';
import { bouncedOf, deliveredOf, type Insight, liftOf } from './insights/insight.ts';
import { countInsights } from './insights/reads.ts';
import { countRuleDays, daysOf, emptyDay, sinceDays } from './insights/rule-days.ts';
import { countLift, countRunPositions, countRunsOfRule, listRunsOfRule } from './runs/runs-of-rule.ts';
import { outline } from './runs/program.ts';
import type { Run } from './runs/run.ts';
import { readFilter } from '../../platform/filter/parse.ts';
import {
  badCursor,
  type CsvColumns,
  getSettings,
  isId,
  type KitDeps,
  type ListQuery,
  readPage,
  routesFor,
  sendCsv,
  toPage,
  zoneOfProject,
} from '../workspace/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { iso, isoOrNull } from '../../platform/time/clock.ts';

type Deps = KitDeps;
const { route } = routesFor<Deps>();

/** Reads of a rule: its results, its earlier versions, and the users in it. */
export const ruleReadRoutes = [
  route('GET /projects/:project/rules/:rule/results', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db }, { projectId, params: { rule: reference }, query: { days = 30 } }) {
      return {
        data: toResults(await showRuleResults(db, { projectId, reference, days, now: db.clock.now() })),
      };
    },
  }),
  route('GET /projects/:project/rules/:rule/versions', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db, access }, { projectId, params: { rule: reference } }) {
      const data = await listVersions({ db, access }, projectId, reference);
      const pagination = { total: data.length, offset: 0, limit: data.length };
      return { data, meta: { pagination, cursor: null } };
    },
  }),
  route('GET /projects/:project/rules/:rule/runs', {
    needs: 'viewer',
    isHeavy: true,
    handle: ({ db }, { projectId, params, query }) =>
      runPage(db, { projectId, reference: params.rule, ...query }),
  }),
  route('GET /projects/:project/rules/:rule/runs.csv', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'rule.export_runs',
    async handle({ db }, { projectId, params, query, reply, note }) {
      note({ subject: (await findRule(db, { projectId, reference: params.rule })).name });
      return sendCsv(reply, {
        name: 'runs.csv',
        columns: RUN_CSV_COLUMNS,
        load: (page) => runPage(db, { projectId, reference: params.rule, ...query, ...page }),
      });
    },
  }),
];

type RunsQuery = ListQuery & {
  projectId: number;
  reference: string;
  version?: number;
  step?: number;
  filter?: string;
};

async function runPage(
  db: Deps['db'],
  { projectId, reference, version, step, filter: text, ...query }: RunsQuery,
): Promise<ListResponse<RunListed>> {
  const filter = readFilter(text, FILTER_KEYS.runs, await zoneOfProject(db, projectId));
  const rule = await findRule(db, { projectId, reference });
  const of = { projectId, ruleId: rule.id, version: version ?? null, step: step ?? null, filter };
  const page = readPage(query, 1);
  const after = page.after?.[0] ?? null;
  if (after !== null && !isId(after)) throw badCursor();
  const runs = await listRunsOfRule(db, { ...of, after, limit: page.rowsMax });
  const total = await countRunsOfRule(db, { ...of, most: page.most });
  const labels = await labelsOf(db, projectId, rule.id);
  return toPage(runs, page, { show: (run) => toRun(run, labels), cursorOf: ({ id }) => [id], total });
}

const RUN_CSV_COLUMNS: CsvColumns<RunListed> = {
  id: ({ id }) => id,
  external_user_id: ({ external_user_id: id }) => id,
  version: ({ version }) => version,
  step: ({ step }) => step.at,
  step_text: ({ step }) => step.label,
  state: ({ state }) => state,
  waits_for: ({ waits_for: waits }) => waits,
  next_at: ({ next_at: at }) => at,
  enrolled_at: ({ enrolled_at: at }) => at,
  trigger: ({ trigger }) => trigger,
};

type Labels = (version: number, step: number) => string;

async function labelsOf(db: Deps['db'], projectId: number, ruleId: string): Promise<Labels> {
  const names = await audienceNames(db, projectId);
  const versions = await listRuleVersions(db, { projectId, ruleId });
  const labels = new Map(
    versions.flatMap(({ version, definition }) =>
      outline(definition.steps).map(({ at, step }): [string, string] => [
        `${version} ${at}`,
        stepLabel(step, names),
      ]),
    ),
  );
  return (version, step) => labels.get(`${version} ${step}`) ?? 'end';
}

function toRun(run: Run, labelOf: Labels): RunListed {
  const { id, userId, version, step, state, waitsFor, nextAt, enrolledAt, anchor } = run;
  return {
    id,
    external_user_id: userId,
    version,
    step: { at: step, label: labelOf(version, step) },
    state: state === 'paused' ? 'paused' : 'active',
    waits_for: waitsFor,
    next_at: isoOrNull(nextAt),
    enrolled_at: iso(enrolledAt),
    trigger: anchor.name,
  };
}

async function listVersions(
  { db, access }: Pick<Deps, 'db' | 'access'>,
  projectId: number,
  reference: string,
): Promise<RuleVersion[]> {
  const rule = await findRule(db, { projectId, reference });
  const of = { projectId, ruleId: rule.id };
  const versions = await listRuleVersions(db, of);
  const runs = Map.groupBy(await countRunPositions(db, of), ({ version }) => version);
  const audience = await audienceNames(db, projectId);
  const actors = await access.namesOf(versions.flatMap(({ createdBy }) => createdBy ?? []));
  return versions.map(({ version, definition, createdAt, createdBy }) => ({
    version,
    created_at: iso(createdAt),
    created_by: createdBy === null ? null : (actors.get(createdBy) ?? createdBy),
    sentence: ruleSentence(definition, audience),
    definition: wholeDocumentOf({ ...rule, definition }),
    is_present: version === rule.version,
    runs: (runs.get(version) ?? []).reduce((sum, count) => sum + count.runs, 0),
  }));
}

function toResults({ rule, since, days, emails, drafts, excluded, lift }: RuleResults): ShownResults {
  const sum = (key: 'enrolled' | 'drafted' | 'sent' | 'goal'): number =>
    days.reduce((all, day) => all + day[key], 0);
  const { delivered, opened, clicked, ...emailCounts } = emailCountsOf(emails);
  const [enrolled, drafted, sent, goal] = [sum('enrolled'), sum('drafted'), sum('sent'), sum('goal')];
  return {
    since: iso(since),
    funnel: { enrolled, drafted, sent, delivered, opened, clicked, goal },
    days,
    ...emailCounts,
    drafts,
    excluded,
    has_goal: rule.definition.goal !== null,
    holdout_percent: rule.definition.holdoutPercent,
    lift,
  };
}

const NOTHING = {
  delivered: 0,
  opened: 0,
  clicked: 0,
  bounced: 0,
  complained: 0,
  unsubscribed: 0,
  replied: 0,
};

function emailCountsOf(emails: RuleResults['emails']): typeof NOTHING {
  if (emails === null) return NOTHING;
  const { opened, clicked, complained, unsubscribed, replied } = emails;
  const [delivered, bounced] = [deliveredOf(emails), bouncedOf(emails)];
  return { delivered, opened, clicked, bounced, complained, unsubscribed, replied };
}

type RuleResults = {
  rule: WholeRule;
  since: number;
  days: RuleDay[];
  /** The results of its emails; null if none was sent in this time. */
  emails: Insight | null;
  drafts: LadderCounts;
  excluded: ExcludedUsers[];
  /** For a rule with users in its holdout: how many reached its goal, since the rule was created. */
  lift: RuleLift | null;
};

type RuleResultsQuery = { projectId: number; reference: string; days: number; now: number };

/** Returns the results of a rule for the last days in the project's time zone, including today. */
async function showRuleResults(
  tx: Tx,
  { projectId, reference, days, now }: RuleResultsQuery,
): Promise<RuleResults> {
  const rule = await findRule(tx, { projectId, reference });
  const { timeZone: zone } = (await getSettings(tx, projectId)).settings;
  const since = sinceDays(days, { now, zone });
  const ruleId = rule.id;
  const counted = (await countRuleDays(tx, { projectId, ruleId, since, now, zone })).get(ruleId);
  const { groups } = await countInsights(tx, { projectId, by: 'rule', since, until: now });
  const reasons = await countReasons(tx, { projectId, ruleId, since });
  return {
    rule,
    since,
    days: counted ?? daysOf({ since, now, zone }).map(emptyDay),
    emails: groups.find((group) => group.ruleId === ruleId) ?? null,
    drafts: await countForLadder(tx, projectId, ruleId),
    excluded: exclusionsOf(reasons),
    lift: await findLift(tx, projectId, ruleId),
  };
}

async function findLift(tx: Tx, projectId: number, ruleId: string): Promise<RuleResults['lift']> {
  const lift = await countLift(tx, { projectId, ruleId });
  return lift.holdout.enrolled === 0 ? null : { ...lift, estimate: liftOf(lift.treatment, lift.holdout) };
}
