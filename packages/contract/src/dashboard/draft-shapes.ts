import Type, { type Static, type TObject } from 'typebox';
import type { DraftState, ReviewAction } from './choices.ts';
import type { EmailCheck } from './emails.ts';
import { FILTER } from './envelope.ts';

/** `body` is Markdown, or the whole page as HTML if the template is MJML. */
export type DraftContent = {
  subject: string;
  preheader: string;
  body: string;
  format: 'markdown' | 'html';
};

/** A draft as in lists, and as in the response to every action. */
export type DraftListed = {
  id: string;
  state: DraftState;
  /** The state of a held draft after its release; null: the draft is not held. */
  resume_state: 'scheduled' | 'approved' | null;
  /** Why the draft is held, canceled or failed; if it was skipped, the reason that the member gave. */
  reason: string | null;
  rule: { id: string; name: string };
  user: {
    external_user_id: string;
    name: string | null;
    email: string | null;
    /** The time zone of the user that the send checks use. */
    time_zone: string;
  };
  subject: string;
  deadline_at: string | null;
  expires_at: string | null;
  /** The end of the trial, card or other item that the draft is about. It cannot be postponed beyond this time. */
  ends_at: string | null;
  not_before: string | null;
  /** When the sender checks a held draft again; null: it is not held, or only a member or an event releases it. */
  held_until: string | null;
  edited: boolean;
  /** True if the draft is sent at its deadline without approval. */
  autopilot: boolean;
  priority: number;
  /** The member who has the editor of the draft open, and until when it counts as open; null: it is closed. */
  lease: { by: string; until: string; mine: boolean } | null;
  /** Pass `content_hash` and `moves` with an action. The action is refused if the draft has changed since. */
  content_hash: string;
  moves: number;
  resend_of: string | null;
  created_at: string;
  updated_at: string;
  ended_at: string | null;
};

/** The send check that would hold the draft now. */
export type DraftGate = {
  reason: string;
  sentence: string;
  until: string | null;
  detail: Record<string, unknown>;
};

export type DraftMoveEntry = {
  number: number;
  at: string;
  action: string;
  from: DraftState | null;
  to: DraftState;
  /** The name of the member, or `engine`, `model` or `operator`. */
  actor: string;
  reason: string | null;
  content_hash: string;
  detail: Record<string, unknown>;
};

export type DraftWhole = DraftListed & {
  content: DraftContent;
  /** The values that the email uses, by variable. */
  facts: Record<string, unknown>;
  version: number;
  key: string;
  /** True if the condition of the rule holds now; null: the draft has ended. */
  rule_holds: boolean | null;
  /** Null: no send check would hold the draft now, or the draft was not checked. */
  send_check: DraftGate | null;
  history: DraftMoveEntry[];
  outcomes: { type: string; occurred_at: string; detail: Record<string, unknown> }[];
};

/** The response to an action: the changed draft, and the send check that would hold it now if it is to be sent. */
export type DraftMoved = { draft: DraftListed; send_check: DraftGate | null };

export const SEEN = {
  hash: Type.Optional(Type.String({ maxLength: 200 })),
  moves: Type.Optional(Type.Integer({ minimum: 1 })),
};
/** The content and the number of changes that the caller saw. If the draft has changed since, the action is a conflict. */
export type DraftSeen = Static<TObject<typeof SEEN>>;

/** One step of the explanation why the draft exists, in order. `values`: the stored values that the step read. */
export type WhyStep = {
  kind: 'trigger' | 'condition' | 'audience' | 'email' | 'deadline' | 'action' | 'send_check' | 'end';
  at: string | null;
  sentence: string;
  /** True if the step holds; null: the step is not a condition. */
  holds: boolean | null;
  values: Record<string, unknown>;
  /** The name of the member who did it; null: no member did. */
  actor: string | null;
};

/** The facts beside a draft in Review. */
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
  /** The last emails to this user, newest first, without this draft. */
  emails: {
    id: string;
    state: DraftState;
    rule: string;
    subject: string;
    at: string;
    outcomes: string[];
  }[];
  /** Recent replies of the user, newest first. `text` is untrusted: show it as plain text only. */
  thread: {
    id: string;
    received_at: string;
    subject: string | null;
    text: string | null;
    verified: boolean;
  }[];
};

/** The email as it would be sent now. */
export type DraftPreview = {
  text: string;
  headers: { name: string; value: string }[];
  from: string;
  to: string | null;
  bytes: { html: number; html_max: number; mime: number };
  links: string[];
  remote_images: number;
  problems: string[];
  checks: EmailCheck[];
};

/** An earlier content of the draft. */
export type DraftVersion = {
  content_hash: string;
  at: string;
  /** The author; `template`: it was rendered from the template. */
  actor: string;
  content: DraftContent;
};

export type DraftVersions = {
  /** The content that the template renders for this user now; null: it cannot be rendered anymore. */
  template: (DraftContent & { name: string | null }) | null;
  /** Newest first. */
  versions: DraftVersion[];
};

export const BulkInputSchema = Type.Object({
  action: Type.Union([
    Type.Object({ kind: Type.Literal('approve') }, { additionalProperties: false }),
    Type.Object(
      { kind: Type.Literal('skip'), reason: Type.Optional(Type.String({ maxLength: 500 })) },
      { additionalProperties: false },
    ),
    Type.Object(
      { kind: Type.Literal('postpone'), until: Type.String({ maxLength: 40 }) },
      { additionalProperties: false },
    ),
  ]),
  ids: Type.Optional(Type.Array(Type.String({ maxLength: 40 }), { minItems: 1, maxItems: 500 })),
  filter: FILTER,
});
/** Either these drafts, or the drafts in Review that match a filter; at most 500 in a request. */
export type BulkInput = Static<typeof BulkInputSchema>;
export type BulkAct = BulkInput['action'];

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

/** The number of drafts in each group of Review. Each is counted up to a limit; `at_least`: there are more. */
export type DraftCounts = {
  soon: number;
  today: number;
  later: number;
  no_deadline: number;
  held: number;
  postponed: number;
  at_least: boolean;
  /** The held drafts by the reason that holds them, most frequent first; those in `postponed` are left out. */
  held_by: { reason: string; drafts: number }[];
};

/** A decision of a member about a draft. A decision that was undone is left out. */
export type DecidedDraft = {
  id: string;
  at: string;
  action: ReviewAction;
  /** The name of the member. */
  by: string;
  /** The text that the member gave with a skip. */
  reason: string | null;
  /** The time to which the draft was postponed. */
  until: string | null;
  draft: { id: string; subject: string; state: DraftState; reason: string | null };
  rule: { id: string; name: string };
  user: { external_user_id: string; name: string | null; email: string | null };
};

/** The decisions of one day in the project's time zone. */
export type ReviewTally = {
  day: string;
  time_zone: string;
  /** The number of drafts by action. A draft that was edited and then approved counts in both. */
  members: ({ by: string; mine: boolean } & Record<ReviewAction, number>)[];
  /** Only the newest decisions of the day were counted. */
  at_least: boolean;
};

/** A change of wording that members made repeatedly in drafts of an email. */
export type EditChange = {
  /** The name of the template; null: the email is written in the rule itself. */
  template: string | null;
  part: 'subject' | 'preheader' | 'body';
  kind: 'removed' | 'added' | 'replaced';
  before: string;
  after: string;
  /** The number of the changed paragraph, from 1; null: the change is not of a whole paragraph. */
  paragraph: number | null;
  /** The number of drafts with the change, and of the edited drafts that were compared. */
  count: number;
  total: number;
  /** "5 of 8 removed the second paragraph" */
  sentence: string;
  /** The IDs of some of the drafts with the change. */
  drafts: string[];
};

export type RuleEdits = {
  /** The number of drafts that were read: the newest that were edited, skipped or sent, at most 100. */
  drafts: number;
  edited: number;
  changes: EditChange[];
  /**
   * The emails of the rule with the recurring changes applied, for a member to save. An email is left out if its source contains
   * none of the changed passages.
   */
  proposals: {
    /** The name of the template; null: the email is written in the rule itself. */
    template: string | null;
    part: 'subject' | 'preheader' | 'body';
    before: string;
    after: string;
    /** The number of changes that the proposal contains. */
    changes: number;
  }[];
};
