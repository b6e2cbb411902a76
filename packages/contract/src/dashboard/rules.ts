import type { Many, One, PageQuery, Raw } from './envelope.ts';

/** A warning about a rule, or that its triggers stopped. */
export type RuleHint = { code: string; message: string };

/** A fault of a document, at its place in it. */
export type DocumentFault = { message: string; field?: string };

/** One day in the project's time zone. `goal`: users who reached the goal. */
export type RuleDay = { day: string; enrolled: number; drafted: number; sent: number; goal: number };

export type RuleMode = 'draft' | 'autopilot';

export type RuleListed = {
  id: string;
  name: string;
  version: number;
  on: boolean;
  mode: RuleMode;
  /** Of the rule itself, such as `4h`; null: as the project has it. */
  deadline: string | null;
  /** After how long an untouched draft really leaves by itself; null: never, a person has to send it. */
  sends_after: string | null;
  priority: number;
  sentence: string;
  /** How many of its steps write a letter, and how many steps there are in all. */
  emails: number;
  steps: number;
  warnings: RuleHint[];
  alarm: RuleHint | null;
  demoted: { at: string; why: string } | null;
  /** The last seven days, the oldest first. */
  week: RuleDay[];
  open_drafts: number;
  created_at: string;
  updated_at: string;
};

/** A rule as `docs/reference/rules.md` has it. */
export type RuleDocument = Record<string, unknown>;

/** Why users were not enrolled, the most frequent reason first. */
export type ExcludedUsers = { reason: string; sentence: string; count: number };

/** Enrolls the users who were in the audiences of a rule when it started. Turning the rule off or editing its definition cancels it. */
export type RuleEnrollment = {
  id: string;
  state: 'running' | 'done' | 'canceled';
  started_at: string;
  ended_at: string | null;
  /** Members when it started. Those who leave the audience before their turn are excluded with the reason `left_audience`. */
  members: number;
  processed: number;
  enrolled: number;
  excluded: ExcludedUsers[];
  /** Null unless the enrollment was canceled. */
  cancel_reason: 'rule_off' | 'rule_edited' | null;
};

/** What an enrollment would do now; for a rule that is off: if it were turned on now. */
export type RuleEnrollmentPreview = {
  /** The audiences that start the rule when a user enters them. Empty: nobody can be enrolled. */
  audiences: { id: string; name: string; ready: boolean }[];
  members: number;
  /** The first 10,000 members are evaluated, in the order of their ids; the counts below are of these. */
  evaluated: number;
  would_enroll: number;
  /** The first 20 who would be enrolled. */
  first: { external_user_id: string; name: string | null }[];
  excluded: ExcludedUsers[];
};

export type RuleShown = RuleListed & {
  definition: RuleDocument;
  /** The newest one; null: the rule never had one. */
  enrollment: RuleEnrollment | null;
  /** Runs by state; `ended` by reason. Runs are paused while the rule is off. */
  runs: { active: number; paused: number; ended: Record<string, number> };
  suggestion: RuleSuggestion | null;
};

/** What the rule has earned; nobody but a person acts on it. */
export type RuleSuggestion = {
  kind: 'autopilot' | 'shorter_deadline' | 'longer_deadline';
  deadline: string;
  why: string;
};

/** `drafts`: how many open ones have another mode now. */
export type RuleSaved = { rule: RuleShown; drafts: number };

/** What an unsaved rule says. Where there are faults there is no sentence. */
export type RuleChecked = {
  sentence: string | null;
  faults: DocumentFault[];
  warnings: RuleHint[];
  /** Whether the definition is another one than that which is saved, so that saving makes a new version. */
  new_version: boolean;
  sentence_before: string | null;
  /** Open drafts that nobody has touched: those of a rule that goes to autopilot may get a deadline, or lose theirs. */
  open_untouched: number;
  /** People under way, who stay in their version. */
  under_way: number;
};

export type RuleSwitchPreview = {
  open: number;
  /** Off: drafts that stand still then. On: drafts that go on. */
  drafts: number;
  /** Off: drafts that wait for something else anyway, and go on waiting for it. On: drafts that have expired and are canceled. */
  others: number;
  /** What is on its way to the relay just now cannot be called back. */
  sending: number;
  /** People whose way stops, or goes on. */
  runs: number;
  /** It needs a person's word, because so many were held for more than a day; 0: it does not. */
  long_held: number;
};

export type RuleSwitched = {
  rule: RuleShown;
  drafts: number;
  runs: number;
  expired: number;
  /** Null unless `enroll` was asked for. */
  enrollment: RuleEnrollment | null;
};

export type RuleVersion = {
  version: number;
  created_at: string;
  /** Null: no member wrote it. */
  created_by: string | null;
  sentence: string;
  definition: RuleDocument;
  is_present: boolean;
  /** People under way in it. */
  runs: number;
};

export type RunListed = {
  id: string;
  external_user_id: string;
  version: number;
  /** Where they stand, in words, and the place in its list of steps. */
  step: { at: number; label: string };
  state: 'active' | 'paused';
  waits_for: 'time' | 'event' | 'draft' | null;
  next_at: string | null;
  enrolled_at: string;
  /** The event, date or audience that enrolled the user. */
  trigger: string;
};

/** Moving to the present version: who would be moved, and who stays because the versions differ up to where they stand. */
export type MoveWaitingPreview = {
  version: number;
  moved: number;
  stayed: { version: number; step: number; runs: number }[];
};

export type RuleArm = { enrolled: number; converted: number };

export type RuleResults = {
  since: string;
  funnel: {
    enrolled: number;
    drafted: number;
    sent: number;
    delivered: number;
    opened: number;
    clicked: number;
    goal: number;
  };
  days: RuleDay[];
  bounced: number;
  complained: number;
  unsubscribed: number;
  replied: number;
  /** How the last drafts ended: as they were written, edited, or skipped. */
  drafts: { untouched: number; edited: number; skipped: number };
  /** Why users were not enrolled. `count`: evaluations. */
  excluded: ExcludedUsers[];
  has_goal: boolean;
  holdout_percent: number;
  /** Of a rule with people in its holdout, since it was made. */
  lift: {
    treatment: RuleArm;
    holdout: RuleArm;
    /** The difference of the shares that reached the goal, with its 95 % interval. Null: fewer than 100 users in an arm. */
    estimate: { difference: number; from: number; to: number } | null;
  } | null;
};

export type BacktestSample = {
  external_user_id: string;
  at: string;
  subject: string;
  preheader: string;
  body: string;
  missing: string[];
};

export type Backtest = {
  rule: string;
  is_saved: boolean;
  from: string;
  to: string;
  /** Where the backtest stopped, because there were too many events. Null: it reached `to`. */
  stopped_at: string | null;
  /** How often the rule was evaluated. */
  evaluated: number;
  enrolled: { users: number; runs: number; holdout: number };
  /** The first 1,000 enrollments. */
  enrollments: { external_user_id: string; at: string; key: string; trigger: string; holdout: boolean }[];
  excluded: ExcludedUsers[];
  waiting: number;
  emails: {
    written: number;
    canceled: number;
    without_address: number;
    per_day: { day: string; emails: number }[];
  };
  frequency_caps: { held: number; displaced: number; sample: { external_user_id: string; at: string }[] };
  samples: BacktestSample[];
  comparison: {
    version: number;
    added: { users: number; external_user_ids: string[] };
    removed: { users: number; external_user_ids: string[] };
    emails: number;
    /** Of the saved version, for the same days. */
    per_day: { day: string; emails: number }[];
  } | null;
  assumptions: string[];
};

/** A line of a backtest's response: its progress (`share` is from 0 to 1), and at the end its result or its failure. */
export type BacktestLine =
  | { progress: { share: number; evaluated: number; at: string; version: 'rule' | 'saved' } }
  | { result: Backtest }
  | { failure: { code: string; errors: DocumentFault[] } };

export type RulesApi = {
  'GET /projects/:project/rules': { answer: Many<RuleListed> };
  'POST /projects/:project/rules': { body: { document: RuleDocument; on?: boolean }; answer: One<RuleShown> };
  'POST /projects/:project/rules/check': {
    body: { document: RuleDocument; rule?: string };
    answer: One<RuleChecked>;
  };
  /** Answers lines of JSON, `BacktestLine` each, while it goes on; whoever hangs up ends it. */
  'POST /projects/:project/rules/backtest': {
    body: { days: number; rule?: string; document?: RuleDocument };
    answer: Raw;
  };
  'GET /projects/:project/rules/:rule': { answer: One<RuleShown> };
  'PUT /projects/:project/rules/:rule': {
    /** `updated_at`: of what was edited; who saved meanwhile is told of. */
    body: { document: RuleDocument; updated_at: string; include_open?: boolean };
    answer: One<RuleSaved>;
  };
  'POST /projects/:project/rules/:rule/mode': {
    body: { mode: RuleMode; deadline?: string | null; include_open?: boolean };
    answer: One<RuleSaved & { before: { mode: RuleMode; deadline: string | null } }>;
  };
  /** Puts it before another one in the order of priority; null: behind all. Answers all whose priority is another now. */
  'POST /projects/:project/rules/:rule/reorder': {
    body: { before: string | null };
    answer: One<{ changed: { id: string; name: string; priority: number }[] }>;
  };
  'POST /projects/:project/rules/:rule/duplicate': { body: { name?: string }; answer: One<RuleShown> };
  'GET /projects/:project/rules/:rule/switch': { answer: One<RuleSwitchPreview> };
  'POST /projects/:project/rules/:rule/switch': {
    /** `enroll`, with `on`: also enroll the users who are in the rule's audiences now. */
    body: { on: boolean; confirmed?: boolean; enroll?: boolean };
    answer: One<RuleSwitched>;
  };
  'GET /projects/:project/rules/:rule/enrollment': { answer: One<RuleEnrollmentPreview> };
  /** Starts in the background. While one is running, that one is the answer. The rule must be on. */
  'POST /projects/:project/rules/:rule/enrollment': { answer: One<RuleEnrollment> };
  'GET /projects/:project/rules/:rule/versions': { answer: Many<RuleVersion> };
  'GET /projects/:project/rules/:rule/runs': {
    query: Pick<PageQuery, 'cursor' | 'limit'> & { version?: number; step?: number };
    answer: Many<RunListed>;
  };
  'GET /projects/:project/rules/:rule/results': { query: { days?: number }; answer: One<RuleResults> };
  'GET /projects/:project/rules/:rule/move-waiting': { answer: One<MoveWaitingPreview> };
  'POST /projects/:project/rules/:rule/move-waiting': { answer: One<MoveWaitingPreview> };
};
