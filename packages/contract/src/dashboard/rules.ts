import Type, { type Static } from 'typebox';
import { RULE_MODES } from './choices.ts';
import { type BulkRefusal, FILTER, PAGE, item, list, oneOf, raw, sortOf } from './envelope.ts';
import { BULK_MAX_ROWS } from './list-orders.ts';
import type { RuleResults } from './rule-results.ts';

export type * from './rule-results.ts';

/** A warning about a rule, or that its triggers stopped. */
export type RuleHint = { code: string; message: string };

/** An error in a document. `field`: its place, such as `steps.0.draft`. */
export type DocumentFault = { message: string; field?: string };

/** One day in the project's time zone. `goal`: users who reached the goal. */
export type RuleDay = { day: string; enrolled: number; drafted: number; sent: number; goal: number };

const RuleModeSchema = oneOf(RULE_MODES);
export type RuleMode = Static<typeof RuleModeSchema>;

export type RuleListed = {
  id: string;
  name: string;
  version: number;
  on: boolean;
  mode: RuleMode;
  /** The rule's own deadline, such as `4h`; null: the project's is used. */
  deadline: string | null;
  /** After how long an unedited draft is sent automatically; null: only a member sends it. */
  sends_after: string | null;
  priority: number;
  sentence: string;
  /** The number of steps that draft an email, and of all steps. */
  emails: number;
  steps: number;
  warnings: RuleHint[];
  alarm: RuleHint | null;
  demoted: { at: string; why: string } | null;
  /** The last seven days, the oldest first. */
  week: RuleDay[];
  open_drafts: number;
  /** Active and paused runs. */
  users: number;
  created_at: string;
  updated_at: string;
};

/** A rule in the format of `docs/reference/rules.md`. Its reader reports errors at their place. */
export const RuleDocumentSchema = Type.Record(Type.String(), Type.Unknown());
export type RuleDocument = Static<typeof RuleDocumentSchema>;

/** Why users were not enrolled, the most frequent reason first. */
export type ExcludedUsers = { reason: string; sentence: string; count: number };

/** Enrolls the users who were in the audiences of a rule when it started. Disabling the rule or editing its definition cancels it. */
export type RuleEnrollment = {
  id: string;
  state: 'running' | 'done' | 'canceled';
  started_at: string;
  ended_at: string | null;
  /** Members when it started. Members who leave the audience before their turn are excluded with the reason `left_audience`. */
  members: number;
  processed: number;
  enrolled: number;
  excluded: ExcludedUsers[];
  /** Null unless the enrollment was canceled. */
  cancel_reason: 'rule_off' | 'rule_edited' | null;
};

/** A preview of an enrollment now. For a disabled rule: as if it were enabled now. */
export type RuleEnrollmentPreview = {
  /** The audiences that start the rule when a user enters them. Empty: no users can be enrolled. */
  audiences: { id: string; name: string; ready: boolean }[];
  members: number;
  /** The first 10,000 members are evaluated, in the order of their ids; the counts below are of these. */
  evaluated: number;
  would_enroll: number;
  /** The first 20 who would be enrolled. */
  first: { external_user_id: string; name: string | null }[];
  excluded: ExcludedUsers[];
};

export type RuleDetails = RuleListed & {
  definition: RuleDocument;
  /** The newest one; null: the rule never had one. */
  enrollment: RuleEnrollment | null;
  /** Runs by state; `ended` by reason. Runs are paused while the rule is off. */
  runs: { active: number; paused: number; ended: Record<string, number> };
  suggestion: RuleSuggestion | null;
};

/** A suggested mode or deadline, by the results of the rule. Only a member applies it. */
export type RuleSuggestion = {
  kind: 'autopilot' | 'shorter_deadline' | 'longer_deadline';
  deadline: string;
  why: string;
};

/** `drafts`: how many open drafts changed their mode. */
export type RuleSaved = { rule: RuleDetails; drafts: number };

/** The check of an unsaved rule. With faults, there is no sentence. */
export type RuleChecked = {
  sentence: string | null;
  /** Triggers, conditions, goal and steps in words, by their path. Parts with errors are missing. */
  labels: Record<string, string>;
  faults: DocumentFault[];
  warnings: RuleHint[];
  /** True if the definition differs from the saved one, so that saving creates a version. */
  new_version: boolean;
  sentence_before: string | null;
  /** Open drafts that no member edited. A change of the mode may give them a deadline or remove it. */
  open_untouched: number;
  /** Active and paused runs, which stay in their version. */
  under_way: number;
};

export type RuleSwitchPreview = {
  open: number;
  /** Off: drafts that would be held. On: drafts that would continue. */
  drafts: number;
  /** Off: drafts that are held for another reason already. On: drafts that have expired and would be canceled. */
  others: number;
  /** Drafts that are being sent now and cannot be stopped. */
  sending: number;
  /** Runs that would be paused, or resumed. */
  runs: number;
  /** Drafts held for more than a day. Above 0, the change needs `confirmed`. */
  long_held: number;
  /** The mode to propose when the rule is enabled: drafts only with AI drafting, the present one if it was enabled before. */
  mode: RuleMode;
};

export type RuleSwitched = {
  rule: RuleDetails;
  drafts: number;
  runs: number;
  expired: number;
  /** Null unless `enroll` was asked for. */
  enrollment: RuleEnrollment | null;
};

/** `done`: the number of rules that were enabled or disabled. `rules`: the names of those that were refused for this reason. */
export type RulesSwitched = { done: number; refused: (BulkRefusal & { rules: string[] })[] };

export type RuleVersion = {
  version: number;
  created_at: string;
  /** Null: it was not created by a member. */
  created_by: string | null;
  sentence: string;
  definition: RuleDocument;
  is_present: boolean;
  /** Active and paused runs of this version. */
  runs: number;
};

export type RunListed = {
  id: string;
  external_user_id: string;
  version: number;
  /** The present step: its index in the list of steps, and its description. */
  step: { at: number; label: string };
  state: 'active' | 'paused';
  waits_for: 'time' | 'event' | 'draft' | null;
  next_at: string | null;
  enrolled_at: string;
  /** The event, date or audience that enrolled the user. */
  trigger: string;
};

/** How many waiting runs move to the present version. The others stay, because the versions differ up to their step. */
export type MoveWaitingPreview = {
  version: number;
  moved: number;
  stayed: { version: number; step: number; runs: number }[];
};

/** No column of versions or steps holds more. */
const Counted = Type.Integer({ minimum: 0, maximum: 2_147_483_647 });

export const RULES_API = {
  /** Without `limit`: all of them. */
  'GET /projects/:project/rules': {
    query: Type.Object({ cursor: PAGE.cursor, limit: PAGE.limit, filter: FILTER, sort: sortOf('rules') }),
    response: list<RuleListed>(),
  },
  'GET /projects/:project/rules.csv': {
    query: Type.Object({ filter: FILTER, sort: sortOf('rules') }),
    response: raw(),
  },
  /** Enables or disables each of the rules, and refuses the others with their reason. `updated_at`: of the rule in the list. */
  'POST /projects/:project/rules/switch-many': {
    body: Type.Object({
      on: Type.Boolean(),
      rules: Type.Array(
        Type.Object(
          { id: Type.String({ maxLength: 100 }), updated_at: Type.String({ maxLength: 50 }) },
          { additionalProperties: false },
        ),
        { minItems: 1, maxItems: BULK_MAX_ROWS },
      ),
    }),
    response: item<RulesSwitched>(),
  },
  /** A new rule is disabled until a member enables it, so that it can be backtested first. */
  'POST /projects/:project/rules': {
    body: Type.Object({ document: RuleDocumentSchema }),
    response: item<RuleDetails>(),
  },
  'POST /projects/:project/rules/check': {
    body: Type.Object({ document: RuleDocumentSchema, rule: Type.Optional(Type.String()) }),
    response: item<RuleChecked>(),
  },
  'GET /projects/:project/rules/:rule': { response: item<RuleDetails>() },
  'PUT /projects/:project/rules/:rule': {
    /** `updated_at`: of the rule that was edited. If it was saved since, the response is a conflict. */
    body: Type.Object({
      document: RuleDocumentSchema,
      updated_at: Type.String(),
      include_open: Type.Optional(Type.Boolean()),
    }),
    response: item<RuleSaved>(),
  },
  'POST /projects/:project/rules/:rule/mode': {
    body: Type.Object({
      mode: RuleModeSchema,
      deadline: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      include_open: Type.Optional(Type.Boolean()),
    }),
    response: item<RuleSaved & { before: { mode: RuleMode; deadline: string | null } }>(),
  },
  /** Moves the rule before another one in the order of priority; null: to the end. Responds with all changed priorities. */
  'POST /projects/:project/rules/:rule/reorder': {
    body: Type.Object({ before: Type.Union([Type.String(), Type.Null()]) }),
    response: item<{ changed: { id: string; name: string; priority: number }[] }>(),
  },
  'POST /projects/:project/rules/:rule/duplicate': {
    body: Type.Object({ name: Type.Optional(Type.String()) }),
    response: item<RuleDetails>(),
  },
  'GET /projects/:project/rules/:rule/switch': { response: item<RuleSwitchPreview>() },
  'POST /projects/:project/rules/:rule/switch': {
    /** With `on`: `enroll` also enrolls the users who are in the rule's audiences now, and `mode` changes the mode before. */
    body: Type.Object({
      on: Type.Boolean(),
      confirmed: Type.Optional(Type.Boolean()),
      enroll: Type.Optional(Type.Boolean()),
      mode: Type.Optional(RuleModeSchema),
    }),
    response: item<RuleSwitched>(),
  },
  'GET /projects/:project/rules/:rule/enrollment': { response: item<RuleEnrollmentPreview>() },
  /** Starts an enrollment in the background, or responds with the running one. The rule must be enabled. */
  'POST /projects/:project/rules/:rule/enrollment': { response: item<RuleEnrollment>() },
  'GET /projects/:project/rules/:rule/versions': { response: list<RuleVersion>() },
  'GET /projects/:project/rules/:rule/runs': {
    query: Type.Object({
      cursor: PAGE.cursor,
      limit: PAGE.limit,
      version: Type.Optional(Counted),
      step: Type.Optional(Counted),
      filter: FILTER,
    }),
    response: list<RunListed>(),
  },
  'GET /projects/:project/rules/:rule/runs.csv': {
    query: Type.Object({ filter: FILTER }),
    response: raw(),
  },
  'GET /projects/:project/rules/:rule/results': {
    query: Type.Object({ days: Type.Optional(Type.Integer({ minimum: 1, maximum: 366 })) }),
    response: item<RuleResults>(),
  },
  'GET /projects/:project/rules/:rule/move-waiting': { response: item<MoveWaitingPreview>() },
  'POST /projects/:project/rules/:rule/move-waiting': { response: item<MoveWaitingPreview>() },
};
