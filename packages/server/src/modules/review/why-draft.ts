import { iso } from '../../platform/time/clock.ts';
import { durationWords } from '../../platform/predicate/sentence.ts';
import { explain, type Explained } from '../../platform/predicate/evaluate.ts';
import type { Predicate } from '../../platform/predicate/predicate.ts';
import type { Draft, DraftTransition } from '../drafts/index.ts';
import { type Anchor, type Trigger, triggerSentence, draftTemplate } from '../rules/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { reasonWords } from '../explain/index.ts';
import { findConditionFacts } from '../audiences/index.ts';
import { lookAhead, type LookAhead, type SendServices } from '../delivery/index.ts';
import type { DraftCase } from './load-draft-case.ts';
import { valuesOf } from './predicate-values.ts';

/** One step of the explanation why a draft exists and why it is in its state. `at` is in milliseconds; null for a step without a time. */
export type WhyStep = {
  kind: 'trigger' | 'condition' | 'audience' | 'email' | 'deadline' | 'action' | 'send_check' | 'end';
  at: number | null;
  sentence: string;
  holds: boolean | null;
  values: Record<string, unknown>;
  /** The member who did it, if any. The caller replaces ids with names. */
  actor: string | null;
};

/** Lists the steps in order: the trigger, conditions, email, deadline, every change, and the send check that would hold the draft now. */
export async function whySteps(
  tx: Tx,
  opened: DraftCase,
  { now, sendServices }: { now: number; sendServices: SendServices },
): Promise<WhyStep[]> {
  const { draft, moves, model } = opened;
  const isOpen = draft.endedAt === null && draft.state !== 'sending';
  const [conditions, ahead] = await Promise.all([
    conditionSteps(tx, opened, now),
    isOpen ? lookAhead(tx, draft, { model, now, sendServices: sendServices }) : null,
  ]);
  return [
    ...triggerSteps(opened),
    ...conditions,
    emailStep(opened),
    deadlineStep(draft, moves),
    ...moves.slice(1).flatMap(actionSteps),
    ...(ahead ? sendCheckSteps(ahead) : endSteps(draft)),
  ];
}

type StepInput = Pick<WhyStep, 'kind' | 'sentence'> & Partial<WhyStep>;

function step(input: StepInput): WhyStep {
  return { at: null, holds: null, values: {}, actor: null, ...input };
}

function triggerSteps({ draft, run, model }: DraftCase): WhyStep[] {
  const definition = model.rules.version(draft.ruleId, draft.version)?.definition;
  const names = (id: string): string | undefined => model.audiences.versionFor(id)?.name;
  const anchor = run?.anchor;
  if (!anchor) return [step({ kind: 'trigger', sentence: 'The trigger is no longer stored' })];
  const trigger = definition?.when.find((candidate) => isTriggerOf(candidate, anchor));
  const waited = trigger ? `: the rule starts ${triggerSentence(trigger, names)}` : '';
  return [
    step({
      kind: anchor.kind === 'audience' ? 'audience' : 'trigger',
      at: anchor.occurredAt,
      sentence: `${ANCHOR_WORDS[anchor.kind](names(anchor.id) ?? anchor.name)}${waited}`,
      holds: true,
      values: anchor.properties,
    }),
  ];
}

const ANCHOR_WORDS: Record<Anchor['kind'], (name: string) => string> = {
  event: (name) => `${name} happened`,
  audience: (name) => `The user joined or left the audience “${name}”`,
  date: (name) => `The date in ${name} approached`,
};

function isTriggerOf(trigger: Trigger, { kind, name, id }: Pick<Anchor, 'kind' | 'name' | 'id'>): boolean {
  switch (trigger.kind) {
    case 'event':
    case 'relative':
      return kind === 'event' && trigger.event === name;
    case 'absence':
      return kind === 'event' && trigger.since === name;
    case 'audience':
      return kind === 'audience' && trigger.audienceId === id;
    case 'date':
      return kind === 'date' && trigger.trait === name;
    default:
      return trigger satisfies never;
  }
}

/** Returns each single condition with its present result and the values found for it. */
async function conditionSteps(tx: Tx, opened: DraftCase, now: number): Promise<WhyStep[]> {
  const { draft, model, person } = opened;
  const version = model.rules.version(draft.ruleId, draft.version);
  const condition = version?.definition.onlyIf ?? null;
  if (!version || condition === null || !person) return [];
  const { audiences, counted } = model;
  const { mentions } = version.conditions;
  const found = await findConditionFacts(tx, [{ person, mentions, audiences, counted }], now);
  const [facts] = found.values();
  if (!facts) return [];
  const names = (id: string): string | undefined => audiences.versionFor(id)?.name;
  const explained = explain(condition, facts, names);
  return parts(condition, explained).map(([predicate, explanation]) =>
    step({
      kind: 'condition',
      at: now,
      sentence: explanation.sentence,
      holds: explanation.holds,
      values: valuesOf(predicate, facts, names),
    }),
  );
}

/** Splits a condition whose parts must all hold into these parts. Any other condition stays whole. */
function parts(predicate: Predicate, explained: Explained): [Predicate, Explained][] {
  if (predicate.kind !== 'all' || !explained.conditions) return [[predicate, explained]];
  return predicate.of.flatMap((child, at) => {
    const explanation = explained.conditions?.[at];
    return explanation ? parts(child, explanation) : [];
  });
}

function emailStep({ draft, moves, model }: DraftCase): WhyStep {
  const [first] = moves;
  const name = draftTemplate(model, draft)?.name;
  const which = name ? `the template “${name}”` : 'the email in the rule';
  const of = `version ${draft.version} of the rule`;
  return step({
    kind: 'email',
    at: first?.at ?? draft.createdAt,
    sentence: `Drafted from ${which}, by ${of}`,
    values: draft.facts,
  });
}

function deadlineStep(
  { autopilotMs, createdAt, expiresAt, endsAt, deadlineAt }: Draft,
  moves: DraftTransition[],
): WhyStep {
  const values = {
    created: iso(createdAt),
    ...(deadlineAt === null ? {} : { deadline: iso(deadlineAt) }),
    ...(expiresAt === null ? {} : { expires: iso(expiresAt) }),
    ...(endsAt === null ? {} : { ends: iso(endsAt) }),
  };
  const [first] = moves;
  if (autopilotMs === null) {
    return step({ kind: 'deadline', sentence: 'Waits for approval and has no deadline', values });
  }
  const waits = first?.to === 'held' ? `, counted from when the hold ended (${first.reason ?? ''})` : '';
  return step({
    kind: 'deadline',
    at: deadlineAt,
    sentence: `Autopilot: sent ${durationWords(autopilotMs)} after the draft was created${waits}, unless a member decides first`,
    values: { ...values, autopilot: durationWords(autopilotMs) },
  });
}

const ACTION_WORDS: Partial<Record<DraftTransition['action'], string>> = {
  approve: 'Approved',
  skip: 'Skipped',
  edit: 'Edited',
  postpone: 'Postponed',
  undo: 'Last action undone',
  refresh_content: 'Content refreshed',
  ai_rewrite: 'Text replaced by AI drafting',
  void_approval: 'Approval withdrawn, because the content changed',
  change_mode: 'Sending mode of the rule changed',
  resume: 'Rescheduled after a pause',
  release: 'Released',
  retry: 'Retry scheduled',
  claim: 'Sending started',
  return: 'Returned unsent, because sending was interrupted',
  hold_while_sending: 'Held while sending',
  send_again: 'Sent again as another draft',
  resolve: 'Delivery resolved by a later outcome',
  ask_again: 'Relay asked again, by the same request',
  keep_unknown: 'Delivery stays unknown',
};

/** Actions that the end step describes. */
const ENDS: ReadonlySet<DraftTransition['action']> = new Set([
  'sent',
  'fail',
  'mark_unknown',
  'mark_unknown_after_restore',
  'cancel',
]);
/** Opening and closing the editor changes nothing. */
const LOOKS: ReadonlySet<DraftTransition['action']> = new Set(['open_editor', 'close_editor']);

function actionSteps({ action, at, actor, reason, detail }: DraftTransition): WhyStep[] {
  if (ENDS.has(action) || LOOKS.has(action)) return [];
  const why = reason === null ? '' : `: ${reasonWords(reason, 'draft', detail)}`;
  const words = action === 'hold' ? 'Held' : (ACTION_WORDS[action] ?? action.replaceAll('_', ' '));
  // The reason of a skip is text that a member wrote.
  const sentence = action === 'skip' ? `${words}${reason === null ? '' : `: “${reason}”`}` : `${words}${why}`;
  const { before: _before, from_hash: _hash, ...values } = detail;
  return [step({ kind: 'action', at, sentence, values, actor })];
}

function sendCheckSteps({ matches: holds, gate }: LookAhead): WhyStep[] {
  const rule = holds
    ? []
    : [step({ kind: 'send_check', sentence: 'The condition of the rule no longer holds', holds: false })];
  if (gate === null) {
    return [...rule, step({ kind: 'send_check', sentence: 'The user has no email address', holds: false })];
  }
  if (gate.passes)
    return [...rule, step({ kind: 'send_check', sentence: 'All send checks pass now', holds: true })];
  const { reason, until, detail } = gate;
  const sentence = `A send check would hold the draft now: ${reasonWords(reason, 'draft', detail)}`;
  return [...rule, step({ kind: 'send_check', at: until, sentence, holds: false, values: detail })];
}

function endSteps({ state, reason, endedAt }: Draft): WhyStep[] {
  const why = reason === null || state === 'skipped' ? '' : `: ${reasonWords(reason, 'draft')}`;
  return [step({ kind: 'end', at: endedAt, sentence: `${END_WORDS[state] ?? state}${why}` })];
}

const END_WORDS: Partial<Record<Draft['state'], string>> = {
  sending: 'Sending',
  sent: 'Sent',
  skipped: 'Skipped',
  canceled: 'Canceled',
  failed: 'Not sent',
  unknown: 'Delivery unknown',
};
