import Type from 'typebox';
import { EXTERNAL_USER_ID_MAX_CHARS } from '../limits.ts';
import { FILTER, PAGE, item, list, oneOf, raw, sortOf } from './envelope.ts';
import { FILTER_KEYS, type ListName } from './lists.ts';

/** A user in a list: the known traits only. */
export type UserListed = {
  external_user_id: string;
  email: string | null;
  name: string | null;
  plan: string | null;
  company: string | null;
  role: string | null;
  first_seen_at: string;
  last_seen_at: string;
  /** Rules do not start for the user now. */
  triggers_suppressed: boolean;
};

/** A trait with its last recorded change. Null: it came by an import, or before changes were recorded. */
export type UserTrait = {
  trait: string;
  value: unknown;
  known: boolean;
  changed: { at: string; before: unknown } | null;
};

export type AudienceOfUser = { id: string; name: string; since: string };

/** The suppression that keeps emails from the user. `kind`: whether it names their email address or their id. */
export type UserSuppression = {
  reason: string;
  until: string | null;
  kind: 'email' | 'user';
  created_at: string;
  /** The suppression is of an erased user with the same address or id. */
  from_erased: boolean;
};

export type RunOfUser = {
  id: string;
  rule: string;
  version: number;
  state: string;
  waits_for: string | null;
  next_at: string | null;
  enrolled_at: string;
  ended_at: string | null;
  end_reason: string | null;
};

export type UserDetails = {
  external_user_id: string;
  email: string | null;
  traits: UserTrait[];
  audiences: AudienceOfUser[];
  runs: RunOfUser[];
  suppression: UserSuppression | null;
  unsubscribed_topics: string[];
  triggers: { suppressed: boolean; live_since: string | null };
  first_seen_at: string;
  last_seen_at: string;
  /** The time zone that a trait names. Null: no trait names one, and the project's is used. */
  zone: string | null;
  /** Values of the traits `timezone` and `time_zone` that name no time zone and are not used, cut to 64 characters. */
  invalid_zones: string[];
  /** The locale that the trait `locale` names, such as `de-AT`. Null: it names none, and the project's language is used. */
  locale: string | null;
  /** The value of the trait `locale` if it is not a locale, cut to 64 characters. */
  invalid_locale: string | null;
};

/** A step of an email: a change of its draft, an outcome or a reply. `detail` depends on `kind`. */
export type EmailStep = {
  at: string;
  id: string;
  kind: 'draft_changed' | 'outcome' | 'reply';
  title: string;
  /** The name of the member who did it, or `engine`. */
  actor: string | null;
  detail: Record<string, unknown>;
};

/**
 * An item of a user's timeline. An email is one item at the time of its last step, with all its steps. `detail` depends on `kind`; text of
 * users is in it unchanged.
 */
export type TimelineItem = {
  at: string;
  id: string;
  kind: 'event' | 'created' | 'changed' | 'joined' | 'left' | 'decision' | 'email';
  title: string;
  /** The rule, audience or draft that the item links to. */
  rule: { id: string; name: string } | null;
  audience: { id: string; name: string | null } | null;
  draft_id: string | null;
  detail: Record<string, unknown>;
  /** The steps of an email, oldest first: the newest 100. */
  steps: EmailStep[];
};

/** The fact that started a run: an event, a change of an audience, or a date in a trait. */
export type RunCause = { kind: 'event' | 'audience' | 'date'; name: string; at: string };

/** The next email to a user if no member acts and nothing else happens. */
export type NextEmail =
  | {
      kind: 'draft';
      draft_id: string;
      subject: string;
      rule: { id: string; name: string };
      cause: RunCause | null;
      /** When it is sent. Null: only a member or a change can send it. */
      at: string | null;
      /** The send check that delays or holds it, or why the draft is held. Null with a null `at`: it waits for approval. */
      reason: string | null;
    }
  /** A run whose next step is due. */
  | { kind: 'step'; rule: { id: string; name: string }; cause: RunCause | null; at: string };

/**
 * How certain a past value is. `same_around_import`: the value was the same before and after an import. `import`: unknown,
 * because an import ran after this time and earlier values are not stored. `not_kept`: the value changed later, and the
 * earlier value is not stored.
 */
export type Certainty = 'exact' | 'same_around_import' | 'import' | 'not_kept';

export type UserThen = {
  at: string;
  /** `unknown`: changes of that time are no longer stored. */
  state: 'known' | 'not_created' | 'unknown';
  /** Changes are stored since this time; null: all of them are. */
  kept_since: string | null;
  email: { value: string | null; certainty: Certainty };
  traits: { trait: string; value: unknown; certainty: Certainty }[];
  /** How certain it is that there were no other traits: an import may have removed one without a record. */
  others: Certainty;
  audiences: {
    id: string;
    name: string;
    certainty: Certainty;
    /** The definition was changed after that time; membership is by the present definition. */
    definition_changed: boolean;
    /** When the user leaves by time alone, if nothing else happens. */
    until: string | null;
  }[];
  /** The next changes due by time alone, the soonest first. */
  next: { at: string; kind: 'audience' | 'draft'; name: string; id: string }[];
  drafts: { id: string; rule: string; state: string; since: string }[];
};

/** A condition with its result for a user, and the conditions it consists of. `until`: how long the result is certain. */
export type Explained = { sentence: string; holds: boolean; until: string | null; conditions?: Explained[] };

/** The result of one rule for one user if it were evaluated now, and its logged decisions. */
export type WhyRule = {
  rule: { id: string; name: string };
  on: boolean;
  /** True if the rule would start if its trigger occurred now. */
  would_fire: boolean;
  /** The triggers, each with the first reason why it would not start the rule. */
  triggers: {
    waits_for: string;
    last_seen_at: string | null;
    would_fire: boolean;
    reason: string;
    sentence: string;
    at: string | null;
    is_set: boolean;
    note: string | null;
    detail: Record<string, unknown>;
    would_pass_if: Explained[];
  }[];
  /** Logged decisions, the newest first. */
  decisions: {
    at: string;
    first_at: string;
    count: number;
    reason: string;
    sentence: string;
    fired: boolean;
    detail: Record<string, unknown>;
  }[];
  drafts: {
    id: string;
    subject: string;
    state: string;
    deadline_at: string | null;
    ended_at: string | null;
    /** Why it is held. */
    reason: string | null;
    /** True if the condition of its rule holds now. */
    rule_holds: boolean;
    /** The send check that would hold it now; null: none. */
    send_check: {
      reason: string;
      sentence: string;
      until: string | null;
      detail: Record<string, unknown>;
    } | null;
  }[];
};

/** The lists that have saved views. */
export type ViewScreen = ListName;
const ViewScreenSchema = oneOf(Object.keys(FILTER_KEYS) as ViewScreen[]);

/** A named filter, shared by all members of the project. */
export type SavedView = {
  id: string;
  screen: ViewScreen;
  name: string;
  filter: string;
  created_by: string;
  created_at: string;
};

/** How many users were suppressed, were suppressed before, and do not exist; and how many open drafts and runs that ended. */
export type SuppressedUsers = {
  added: number;
  already_suppressed: number;
  not_found: number;
  drafts: number;
  runs: number;
};

export type ErasedUser = { external_user_id: string; erased_at: string; removed: Record<string, number> };

export const PEOPLE_API = {
  'GET /projects/:project/users': {
    query: Type.Object({ cursor: PAGE.cursor, limit: PAGE.limit, filter: FILTER, sort: sortOf('users') }),
    response: list<UserListed>(),
  },
  'GET /projects/:project/users.csv': {
    query: Type.Object({ filter: FILTER, sort: sortOf('users') }),
    response: raw(),
  },
  'POST /projects/:project/users/suppress': {
    body: Type.Object({
      users: Type.Array(Type.String({ minLength: 1, maxLength: EXTERNAL_USER_ID_MAX_CHARS }), {
        minItems: 1,
        /** A selection is a page of the table, or part of it. */
        maxItems: 1_000,
      }),
    }),
    response: item<SuppressedUsers>(),
  },
  'GET /projects/:project/users/:user': { response: item<UserDetails>() },
  'GET /projects/:project/users/:user/next-email': { response: item<NextEmail | null>() },
  'GET /projects/:project/users/:user/timeline': {
    query: Type.Object({
      cursor: PAGE.cursor,
      limit: PAGE.limit,
      kinds: Type.Optional(Type.String({ maxLength: 200 })),
    }),
    response: list<TimelineItem>(),
  },
  'GET /projects/:project/users/:user/at': {
    query: Type.Object({ at: Type.String({ maxLength: 64 }) }),
    response: item<UserThen>(),
  },
  'GET /projects/:project/users/:user/why': {
    query: Type.Object({ rule: Type.Optional(Type.String({ maxLength: 255 })) }),
    response: item<WhyRule[]>(),
  },
  'GET /projects/:project/users/:user/export': { response: raw() },
  'POST /projects/:project/users/:user/erase': {
    body: Type.Object({ confirm: Type.String() }),
    response: item<ErasedUser>(),
  },
  'GET /projects/:project/views': {
    query: Type.Object({ screen: ViewScreenSchema }),
    response: list<SavedView>(),
  },
  'POST /projects/:project/views': {
    body: Type.Object({
      screen: ViewScreenSchema,
      name: Type.String(),
      filter: Type.String({ maxLength: 1_000 }),
    }),
    response: item<SavedView>(),
  },
  'PATCH /projects/:project/views/:view': {
    body: Type.Object({ name: Type.String() }),
    response: item<SavedView>(),
  },
  'DELETE /projects/:project/views/:view': { response: item<SavedView>() },
};
