import type { Many, One } from './envelope.ts';

/** By the name of the setting, in the text form in which it is stored and typed. */
export type SettingTexts = Record<string, string>;

export type SettingShown = {
  name: string;
  value: string;
  default: string;
  /** The accepted values, in words. */
  format: string;
};

export type ProjectSettingsShown = {
  settings: SettingShown[];
  /** False: quiet hours hold no email. They are off, or they are the default and no relay is set. */
  quiet_hours_in_force: boolean;
  /** Parsed, for forms. */
  parsed: {
    quiet_hours: { start: string; end: string } | null;
    frequency_cap: { emails: number; window_ms: number }[] | null;
    throttle: { emails: number; per_ms: number } | null;
    autopilot_ms: number | null;
    topics: { id: string; title: string }[];
    tracking: { opens: boolean; clicks: boolean };
    team_addresses: string[];
    paused: boolean;
  };
};

/** What the sender gate says: whether anything may leave as this sender. */
export type SenderVerdict = {
  /** Letters stay in the outbox of this installation, and no gate asks for a sender. */
  test_inbox: boolean;
  /** Null: it passes. */
  problem: { reason: 'domain' | 'no_sender' | 'public_url'; detail: string } | null;
};

/** As whom letters leave now, and what holds them back that no setting says. */
export type SendingState = {
  sender: SenderVerdict & {
    name: string;
    address: string;
    reply_to: string | null;
    domain: { id: string; name: string; state: string; paused: string | null } | null;
  };
  /** What the gate would say with a relay, where letters stay in the outbox: so that it can be set up before. */
  with_relay: SenderVerdict['problem'];
  domains: { id: string; name: string; state: string; paused: string | null; throttle: string }[];
  /** Answers of recipients are heard here: mail comes in, and they are handed on. */
  replies: { captured: boolean; missing: 'mail_domain' | 'reply_forward_to' | null };
  throttle: { remaining: number | null; next_at: string | null };
  warmup: WarmupShown;
  has_model: boolean;
};

/** The warm-up of the sending domain. `off` says why there is none. */
export type WarmupShown =
  | { off: 'test_inbox' | 'no_domain' | 'warm' | 'not_begun' | 'over' }
  | { off: null; day: number; emails: number; remaining: number; ends_at: string; reduced: boolean };

export type PolicyTotals = {
  sends: number;
  sends_immediately: number;
  held: Record<string, number>;
  expires: number;
  median_send_at: string | null;
  last_send_at: string | null;
};
/** The expected result of a draft if no member acts. `reason`: the last send check that delays or holds it. */
export type SendForecast = { result: 'sends' | 'held' | 'expires'; at: string | null; reason: string | null };
export type ForecastChange = {
  id: string;
  rule: string;
  external_user_id: string;
  current: SendForecast;
  proposed: SendForecast;
};

/** What the waiting drafts do under the current and a proposed policy. */
export type PolicyEffect = {
  drafts: number;
  truncated: boolean;
  current: PolicyTotals;
  proposed: PolicyTotals;
  earlier: number;
  later: number;
  unchanged: number;
  median_shift_ms: number | null;
  /** Drafts that would be sent under the current policy, and expire under the proposed one. */
  newly_expire: number;
  /** Those whose deadline the change takes away at once: only a person sends them then. */
  stop_sending: number;
  differences: ForecastChange[];
  /** Of the next 7 days those hours in which something leaves under either. */
  hours: { at: string; current: number; proposed: number }[];
};

/** The settings that the gates look at, as texts. */
export type PolicyQuery = {
  quiet_hours?: string;
  frequency_cap?: string;
  throttle?: string;
  time_zone?: string;
  paused?: string;
  /** Only `draft`: any other deadline is for new drafts. */
  autopilot?: string;
};

export type RateLimitShown = { endpoint: string; rate: number; burst: number };

/** What a pause would keep back. */
export type PauseEffect = {
  paused: boolean;
  /** Drafts that would leave by themselves within an hour, and within a day, if it were not paused. */
  next_hour: number;
  next_day: number;
  open: number;
  truncated: boolean;
};

/** What letting go would mean. */
export type ResumeEffect = {
  was_paused: boolean;
  open: number;
  expired: number;
  overdue: number;
  held: number;
  long_held: number;
  /** So many were held for more than a day that this number has to be typed. */
  needs_confirmation: boolean;
};

export type SettingsApi = {
  'GET /projects/:project/settings': { answer: One<ProjectSettingsShown> };
  /** `seen`: what the form showed of what it changes; where it is another by now nothing is changed. */
  'PATCH /projects/:project/settings': {
    body: { settings: SettingTexts; seen?: SettingTexts };
    answer: One<ProjectSettingsShown>;
  };
  'GET /projects/:project/sending': { answer: One<SendingState> };
  'GET /projects/:project/policy/simulate': { query: PolicyQuery; answer: One<PolicyEffect> };
  'GET /projects/:project/rate-limits': { answer: Many<RateLimitShown> };
  'PATCH /projects/:project/rate-limits/:endpoint': {
    body: { rate?: number; burst?: number };
    answer: One<RateLimitShown>;
  };
  'GET /projects/:project/pause': { answer: One<PauseEffect> };
  'POST /projects/:project/pause': { answer: One<{ paused: true }> };
  'GET /projects/:project/resume': { answer: One<ResumeEffect> };
  /** `confirmed`: `long_held`, as a person typed it. */
  'POST /projects/:project/resume': {
    body: { confirmed?: number };
    answer: One<{ paused: false; canceled: number; postponed: number }>;
  };
};
