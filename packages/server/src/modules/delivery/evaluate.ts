import { evaluate } from '../../platform/predicate/evaluate.ts';
import type { Facts, Predicate } from '../../platform/predicate/predicate.ts';
import {
  cancel,
  holdOrCancelUnmatched,
  type DraftActionResult,
  type Draft,
  follow,
  isApproved,
  setDraftMode,
} from '../drafts/index.ts';
import { findPeople, personKey, type Person } from '../users/index.ts';
import {
  findRunsById,
  type Run,
  autopilotPeriod,
  type Model,
  gapOf,
  isOutdated,
  draftTemplate,
  localeOfPerson,
  zoneOfPerson,
} from '../rules/index.ts';
import { renderContent, variablesFor } from '../rendering/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { findConditionFacts } from '../audiences/index.ts';
import { plainList } from '../../platform/db/list.ts';

/** Everything that is read before drafts are evaluated again. */
export type DraftEvaluationInput = {
  model: Model;
  now: number;
  people: Map<string, Person>;
  runs: Map<string, Run>;
  facts: Map<string, Facts>;
  forcedDraftIds: Set<string>;
  /** The counted work of rendering drafts again so far. */
  rendering: { work: number };
};

/** Reads everything that evaluating these drafts of one project may need, in set-based queries. */
export async function loadEvidence(
  tx: Tx,
  drafts: Draft[],
  { model, now }: { model: Model; now: number },
): Promise<DraftEvaluationInput> {
  const ids = new Map(drafts.map(({ projectId, userId }) => [userId, { projectId, userId }]));
  const people = new Map(
    (await findPeople(tx, [...ids.values()])).map((person) => [personKey(person), person]),
  );
  const conditional = drafts.filter(
    (draft) => conditionOf(model, draft) !== null || exitOf(model, draft) !== null,
  );
  const queries = conditional.flatMap((draft) => {
    const person = people.get(personKey(draft));
    const mentions = model.rules.version(draft.ruleId, draft.version)?.conditions.mentions ?? [];
    return person ? [{ person, mentions, audiences: model.audiences, counted: model.counted }] : [];
  });
  // An approval that was withdrawn or voided does not count.
  const approved = conditional.filter(isApproved);
  const stale = drafts.filter((draft) => isStale(draft, { people, model }));
  const [facts, runs, forcedDraftIds] = await Promise.all([
    queries.length > 0 ? findConditionFacts(tx, queries, now) : new Map<string, Facts>(),
    findRunsById(
      tx,
      stale.flatMap(({ projectId, runId }) => (runId === null ? [] : [{ projectId, id: runId }])),
    ),
    approved.length > 0 ? findSentAnyway(tx, approved) : new Set<string>(),
  ]);
  const rendering = { work: 0 };
  return {
    model,
    now,
    people,
    facts,
    forcedDraftIds,
    rendering,
    runs: new Map(runs.map((run) => [run.id, run])),
  };
}

/**
 * Checks before a draft is sent whether its run has ended, its rule still holds, its content is current and autopilot still applies.
 * Returns null if the draft may go to the send checks. An untouched draft is refreshed, and evaluated again with its new content.
 */
export function evaluateAgain(draft: Draft, evidence: DraftEvaluationInput): DraftActionResult | null {
  const { people, now, model, facts, forcedDraftIds } = evidence;
  const person = people.get(personKey(draft));
  if (!person) return cancel(draft, { reason: 'erased', now });
  const condition = conditionOf(model, draft);
  const exit = exitOf(model, draft);
  const draftFacts = facts.get(personKey(draft));
  if (exit !== null && draftFacts !== undefined && evaluate(exit, draftFacts).matches)
    return cancel(draft, { reason: 'exit_condition', now });
  const isOut = condition !== null && draftFacts !== undefined && !evaluate(condition, draftFacts).matches;
  if (isOut && !forcedDraftIds.has(draft.id)) return holdOrCancelUnmatched(draft, { now });
  return rewrite(draft, person, evidence) ?? requireReview(draft, evidence);
}

/**
 * Autopilot of the rule or the project may have been turned off while the draft was claimed or skipped. This applies to every draft that no
 * member has touched.
 */
function requireReview(
  draft: Draft,
  { model: { rules, project }, now }: DraftEvaluationInput,
): DraftActionResult | null {
  const rule = rules.byId.get(draft.ruleId);
  if (!rule || draft.isEdited || isApproved(draft)) return null;
  if (autopilotPeriod(rule, project.settings.autopilotMs) !== null) return null;
  const { expiresAfterMs } = rule.definition;
  return setDraftMode(draft, { autopilotMs: null, includeOpen: false, expiresAfterMs, now });
}

export function conditionOf({ rules }: Model, draft: Draft): Predicate | null {
  return rules.version(draft.ruleId, draft.version)?.definition.onlyIf ?? null;
}

/**
 * Returns the exit condition of the draft's run. Time alone may fulfill it, and then it has not been evaluated yet. A draft that is sent
 * again belongs to no run.
 */
function exitOf({ rules }: Model, draft: Draft): Predicate | null {
  if (draft.runId === null || draft.resendOf !== null) return null;
  return rules.version(draft.ruleId, draft.version)?.definition.exits.when ?? null;
}

function isStale(draft: Draft, { people, model }: Pick<DraftEvaluationInput, 'people' | 'model'>): boolean {
  const person = people.get(personKey(draft));
  return person !== undefined && isOutdated(draft, person, model);
}

function rewrite(
  draft: Draft,
  person: Person,
  { model, runs, now, rendering }: DraftEvaluationInput,
): DraftActionResult | null {
  const run = draft.runId === null ? undefined : runs.get(draft.runId);
  const email = draftTemplate(model, draft);
  if (!run || !email) return null;
  const variables = variablesFor({
    person,
    anchor: run.anchor,
    endsAt: draft.endsAt,
    project: model.project,
    zone: zoneOfPerson(person, model),
    locale: localeOfPerson(person, model),
  });
  const rendered = renderContent(email.text, variables);
  rendering.work += rendered.work;
  const { content, facts } = rendered;
  return follow(draft, { content, facts, ...gapOf(rendered), why: 'facts_changed', now });
}

/**
 * Finds those of these drafts that a member last approved although their rule no longer held. Meant for a few drafts. Reads a table of the
 * drafts module.
 */
export async function findSentAnyway(
  tx: Tx,
  keys: { projectId: number; id: string }[],
): Promise<Set<string>> {
  const rows = await tx.query<{ id: string }>(
    `SELECT k.id FROM unnest($1::bigint[], $2::uuid[]) AS k(project_id, id)
     CROSS JOIN LATERAL (
       SELECT m.detail FROM beckon.draft_move m
       WHERE m.project_id = k.project_id AND m.draft_id = k.id AND m.action = 'approve'
       ORDER BY m.number DESC LIMIT 1
     ) m WHERE m.detail -> 'send_anyway' = 'true'`,
    [plainList(keys.map((key) => key.projectId)), plainList(keys.map((key) => key.id))],
  );
  return new Set(rows.map((row) => row.id));
}
