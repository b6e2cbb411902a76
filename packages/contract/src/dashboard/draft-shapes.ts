export type DraftState =
  | 'composing'
  | 'scheduled'
  | 'approved'
  | 'held'
  | 'sending'
  | 'sent'
  | 'skipped'
  | 'canceled'
  | 'failed'
  | 'unknown';

/** `body` is Markdown, or the whole page as HTML where the letter was laid out by itself. */
export type DraftContent = {
  subject: string;
  preheader: string;
  body: string;
  format: 'markdown' | 'html';
};

/** A draft as lists show it, and as every move answers it. */
export type DraftListed = {
  id: string;
  state: DraftState;
  /** As what a held one goes on. */
  resume_state: 'composing' | 'scheduled' | 'approved' | null;
  /** Why it is held, canceled or failed; of a skip, what the person said. */
  reason: string | null;
  rule: { id: string; name: string };
  user: {
    external_user_id: string;
    name: string | null;
    email: string | null;
    /** The zone in which they live, as the gates read it. */
    time_zone: string;
  };
  subject: string;
  deadline_at: string | null;
  expires_at: string | null;
  /** The end of what it is about, beyond which it cannot be postponed. */
  ends_at: string | null;
  not_before: string | null;
  /** When the sender looks at a held one again; null: a person or an event has to move it. */
  held_until: string | null;
  edited: boolean;
  /** It leaves by itself at its deadline; otherwise only a person sends it. */
  autopilot: boolean;
  priority: number;
  /** Somebody has its editor open. */
  lease: { by: string; until: string; mine: boolean } | null;
  /** Both are said back with a move, so that nobody decides about what they did not see. */
  content_hash: string;
  moves: number;
  resend_of: string | null;
  created_at: string;
  updated_at: string;
  ended_at: string | null;
};

/** What would hold it now. */
export type DraftGate = {
  reason: string;
  sentence: string;
  until: string | null;
  detail: Record<string, unknown>;
};

export type DraftMoveShown = {
  number: number;
  at: string;
  action: string;
  from: DraftState | null;
  to: DraftState;
  /** The name of the person, or `engine`, `model`, `operator`. */
  actor: string;
  reason: string | null;
  content_hash: string;
  detail: Record<string, unknown>;
};

export type DraftWhole = DraftListed & {
  content: DraftContent;
  /** What the letter says about the person, by the variable that says it. */
  facts: Record<string, unknown>;
  version: number;
  key: string;
  /** Whether the condition of its rule holds now; null once it has come to its end. */
  rule_holds: boolean | null;
  /** Null where nothing would hold it now, or where it is not asked. */
  send_check: DraftGate | null;
  history: DraftMoveShown[];
  outcomes: { type: string; occurred_at: string; detail: Record<string, unknown> }[];
};

/** Every move answers with the draft as it is afterwards, and for one that is to leave with what would hold it now. */
export type DraftMoved = { draft: DraftListed; send_check: DraftGate | null };

/** On what whoever acts looked; a draft that is another one by now is a conflict that says who did what. */
export type DraftSeen = { hash?: string; moves?: number };

/** One step of why there is this draft, in order. `values`: what was found, as it is stored. */
export type WhyStep = {
  kind: 'trigger' | 'condition' | 'audience' | 'email' | 'deadline' | 'action' | 'send_check' | 'end';
  at: string | null;
  sentence: string;
  /** Null: it is no question of yes or no. */
  holds: boolean | null;
  values: Record<string, unknown>;
  /** The name of who did it, where somebody did. */
  actor: string | null;
};

/** What stands beside a letter that somebody reads. */
export type DraftContext = {
  why: WhyStep[];
  user: {
    external_user_id: string;
    email: string | null;
    time_zone: string;
    traits: Record<string, unknown>;
    audiences: { id: string; name: string }[];
    suppressed: boolean;
  } | null;
  /** The last letters to this person, the newest first, this draft left out. */
  emails: {
    id: string;
    state: DraftState;
    rule: string;
    subject: string;
    at: string;
    outcomes: string[];
  }[];
  /** What they wrote back lately, the newest first. `text` is theirs: it is shown as text alone. */
  thread: {
    id: string;
    received_at: string;
    subject: string | null;
    text: string | null;
    verified: boolean;
  }[];
};

export type DraftCheck = {
  name: string;
  status: 'ok' | 'warning' | 'error';
  message: string;
  detail?: string[];
};

/** The letter as it would leave now. */
export type DraftPreview = {
  text: string;
  headers: { name: string; value: string }[];
  from: string;
  to: string | null;
  bytes: { html: number; html_max: number; mime: number };
  links: string[];
  remote_images: number;
  problems: string[];
  checks: DraftCheck[];
};

/** A text that it had, the newest first. */
export type DraftVersion = {
  content_hash: string;
  at: string;
  /** Who wrote it; `template`: it came from its template. */
  actor: string;
  content: DraftContent;
};

export type DraftVersions = {
  /** What its letter would say to this person now; null where that cannot be said any more. */
  template: (DraftContent & { name: string | null }) | null;
  versions: DraftVersion[];
};

export type BulkAct =
  | { kind: 'approve' }
  | { kind: 'skip'; reason?: string }
  | { kind: 'postpone'; until: string };

/** Either these drafts, or the drafts in Review that match a filter; at most 500 in a request. */
export type BulkAsked = { action: BulkAct; ids?: string[]; filter?: string };

/** How many drafts the action cannot change, and why. */
export type BulkUnchanged = { message: string; drafts: number };

/** The result that the action would have. */
export type BulkPreview = {
  drafts: number;
  /** More drafts match than one request changes. */
  more: boolean;
  would_change: number;
  users: number;
  unchanged: BulkUnchanged[];
  /** The send checks that would hold approved drafts. */
  held_by: { reason: string; sentence: string; drafts: number }[];
  sends_now: number;
  rules: { name: string; drafts: number }[];
};

export type BulkActed = {
  changed: DraftListed[];
  unchanged: { id: string; message: string }[];
  more: boolean;
};

/** How many wait, by what Review groups them; each is counted up to a bound, and `at_least` where there are more. */
export type DraftCounts = {
  soon: number;
  today: number;
  later: number;
  no_deadline: number;
  held: number;
  postponed: number;
  at_least: boolean;
};

/** A change of words that people made again and again in drafts of a letter. */
export type EditChange = {
  /** The name of the letter; null: it stands in the rule itself. */
  template: string | null;
  part: 'subject' | 'preheader' | 'body';
  kind: 'removed' | 'added' | 'replaced';
  before: string;
  after: string;
  /** Of a whole paragraph, which one, from 1; null: it is about words. */
  paragraph: number | null;
  /** How many drafts have the change, and how many edited drafts were compared. */
  count: number;
  total: number;
  /** "5 of 8 removed the second paragraph" */
  sentence: string;
  /** Some of the drafts in which it was made. */
  drafts: string[];
};

export type RuleEdits = {
  /** The newest that people edited, that were skipped or that left: at most a hundred. */
  drafts: number;
  edited: number;
  changes: EditChange[];
  /**
   * The letters of the rule with the recurring changes in them, for a person to apply; without one where none of the changes is
   * found in its source.
   */
  proposals: {
    /** The name of its template; null: it stands in the rule itself. */
    template: string | null;
    part: 'subject' | 'preheader' | 'body';
    before: string;
    after: string;
    /** How many of the changes are in it. */
    changes: number;
  }[];
};
