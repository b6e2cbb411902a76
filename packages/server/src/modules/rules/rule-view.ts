import type {
  ExcludedUsers,
  RuleDay,
  RuleEnrollment,
  RuleEnrollmentPreview,
  RuleListed,
  RuleDetails,
} from '@beckon/contract/dashboard';
import { countOpen } from '../drafts/index.ts';
import { wholeDocumentOf } from './definitions/print.ts';
import { inOrder } from './definitions/reorder.ts';
import { autopilotPeriod, type Definition, REASONS } from './definitions/rule.ts';
import type { Enrollment } from './enrollment/enrollment.ts';
import type { EnrollmentPreview } from './enrollment/preview-enrollment.ts';
import { findLatestEnrollment } from './enrollment/store.ts';
import { countRuleDays, daysOf, emptyDay, sinceDays } from './insights/rule-days.ts';
import { outline } from './runs/program.ts';
import { countRunPositions } from './runs/runs-of-rule.ts';
import { type RuleOverview, listRuleOverviews, showRule } from './show-rules.ts';
import { getSettings, type KitDeps } from '../workspace/index.ts';
import { iso, isoOrNull } from '../../platform/time/clock.ts';
import { printDuration } from '../../platform/time/time-text.ts';

type Deps = KitDeps;

type Db = Deps['db'];

/** A rule of the list, with its definition. */
export type RuleEntry = { listed: RuleListed; definition: Definition };

/** Lists the rules in the order of priority. */
export async function listRuleEntries(db: Db, projectId: number): Promise<RuleEntry[]> {
  const now = db.clock.now();
  const rules = await listRuleOverviews(db, { projectId, now });
  const surroundings = await loadSurroundings(db, projectId, null);
  const ranked = rules.map((rule) => ({ ...rule, priority: rule.definition.priority }));
  return inOrder(ranked).map((rule) => ({
    listed: ruleSummary(rule, surroundings),
    definition: rule.definition,
  }));
}

/** Returns a rule by its id or its name. */
export async function ruleDetails(db: Db, projectId: number, reference: string): Promise<RuleDetails> {
  const rule = await showRule(db, { projectId, reference, now: db.clock.now() });
  const { runs, suggestion } = rule;
  const enrollment = await findLatestEnrollment(db, { projectId, ruleId: rule.id });
  return {
    ...ruleSummary(rule, await loadSurroundings(db, projectId, rule.id)),
    definition: wholeDocumentOf(rule),
    enrollment: enrollment && enrollmentSummary(enrollment),
    runs,
    suggestion: suggestion && {
      kind: suggestion.kind,
      deadline: printDuration(suggestion.deadlineMs),
      why: suggestion.why,
    },
  };
}

const WEEK_DAYS = 7;

type RuleSurroundings = {
  week: Map<string, RuleDay[]>;
  noDays: RuleDay[];
  open: Map<string, number>;
  users: Map<string, number>;
  autopilotMs: number | null;
};

async function loadSurroundings(db: Db, projectId: number, ruleId: string | null): Promise<RuleSurroundings> {
  const now = db.clock.now();
  const { timeZone: zone, autopilotMs } = (await getSettings(db, projectId)).settings;
  const since = sinceDays(WEEK_DAYS, { now, zone });
  const [week, open, positions] = await Promise.all([
    countRuleDays(db, { projectId, ruleId, since, now, zone }),
    countOpen(db, projectId),
    countRunPositions(db, { projectId, ruleId }),
  ]);
  const users = new Map<string, number>();
  for (const { ruleId: id, runs } of positions) users.set(id, (users.get(id) ?? 0) + runs);
  return { week, open, users, autopilotMs, noDays: daysOf({ since, now, zone }).map(emptyDay) };
}

function ruleSummary(
  rule: RuleOverview,
  { week, noDays, open, users, autopilotMs }: RuleSurroundings,
): RuleListed {
  const { id, name, version, mode, deadlineMs, definition, sentence, lints, silence } = rule;
  const leavesAfter = autopilotPeriod(rule, autopilotMs);
  const steps = outline(definition.steps);
  return {
    id,
    name,
    version,
    on: rule.enabledAt !== null,
    mode,
    deadline: deadlineMs === null ? null : printDuration(deadlineMs),
    sends_after: leavesAfter === null ? null : printDuration(leavesAfter),
    priority: definition.priority,
    sentence,
    emails: steps.filter(({ step }) => step.kind === 'draft').length,
    steps: steps.length,
    warnings: lints,
    alarm: silence,
    demoted: rule.demotedAt === null ? null : { at: iso(rule.demotedAt), why: rule.demotedReason ?? '' },
    week: week.get(id) ?? noDays,
    open_drafts: open.get(id) ?? 0,
    users: users.get(id) ?? 0,
    created_at: iso(rule.createdAt),
    updated_at: iso(rule.updatedAt),
  };
}

export function enrollmentSummary(enrollment: Enrollment): RuleEnrollment {
  const { id, state, startedAt, endedAt, members, processed, enrolled, excluded, cancelReason } = enrollment;
  return {
    id,
    state,
    started_at: iso(startedAt),
    ended_at: isoOrNull(endedAt),
    members,
    processed,
    enrolled,
    excluded: excludedUsers(Object.entries(excluded)),
    cancel_reason: cancelReason,
  };
}

export function enrollmentPreviewBody(preview: EnrollmentPreview): RuleEnrollmentPreview {
  const { audiences, members, evaluated, enrolled, first, excluded } = preview;
  return {
    audiences: audiences.map(({ id, name, isReady }) => ({ id, name, ready: isReady })),
    members,
    evaluated,
    would_enroll: enrolled,
    first: first.map(({ userId, name }) => ({ external_user_id: userId, name })),
    excluded: excludedUsers([...excluded]),
  };
}

function excludedUsers(counts: [string, number][]): ExcludedUsers[] {
  const words: Record<string, string> = REASONS;
  return counts
    .map(([reason, count]) => ({ reason, sentence: words[reason] ?? reason, count }))
    .toSorted((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}
