import Type, { type Static } from 'typebox';
import { item, list } from './envelope.ts';

const SettingTextsSchema = Type.Record(Type.String({ maxLength: 40 }), Type.String({ maxLength: 2_000 }));
/** Setting values as text, by name. */
export type SettingTexts = Static<typeof SettingTextsSchema>;

export type SettingEntry = {
  name: string;
  value: string;
  default: string;
  /** The accepted values, in words. */
  format: string;
};

export type ProjectSettingsDetails = {
  settings: SettingEntry[];
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

/** The send check of the sender. */
export type SenderCheck = {
  /** No relay is set: emails go to the test inbox, and the sender is not checked. */
  test_inbox: boolean;
  /** Null: emails can be sent. */
  problem: { reason: 'domain_not_ready' | 'no_sender' | 'public_url'; detail: string } | null;
};

/** The sender of emails, and the limits that are not settings. */
export type SendingState = {
  sender: SenderCheck & {
    name: string;
    address: string;
    reply_to: string | null;
    domain: { id: string; name: string; state: string; paused: string | null } | null;
  };
  /** The problem that the sender would have with a relay, while none is set. */
  with_relay: SenderCheck['problem'];
  domains: { id: string; name: string; state: string; paused: string | null; throttle: string }[];
  /**
   * `captured`: replies are received. `source`: they are received by the reply source of the project. `missing`: the setting that prevents
   * it. `address_too_long`: the Reply-To address is too long for plus addressing.
   */
  replies: {
    captured: boolean;
    source: boolean;
    missing: 'mail_domain' | 'reply_forward_to' | null;
    address_too_long: boolean;
  };
  throttle: { remaining: number | null; next_at: string | null };
  warmup: WarmupDetails;
  has_model: boolean;
};

/** The warm-up of the sending domain. `off`: the reason without a warm-up. */
export type WarmupDetails =
  | { off: 'test_inbox' | 'no_domain' | 'warm' | 'not_started' | 'complete' }
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

/** The effect of a proposed policy on the waiting drafts. */
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
  /** Drafts that the change leaves without a deadline, so that only a member sends them. */
  stop_sending: number;
  differences: ForecastChange[];
  /** The hours of the next 7 days in which emails are sent under either policy. */
  hours: { at: string; current: number; proposed: number }[];
};

const Text = Type.Optional(Type.String({ maxLength: 2_000 }));
const PolicyQuerySchema = Type.Object({
  quiet_hours: Text,
  frequency_cap: Text,
  throttle: Text,
  time_zone: Text,
  paused: Text,
  /** Only `draft`: any other value applies to new drafts only. */
  autopilot: Text,
});
/** The settings of the sending policy, as text. */
export type PolicyQuery = Static<typeof PolicyQuerySchema>;

export type EndpointRateLimit = { endpoint: string; rate: number; burst: number };

/** The emails that a pause of the project would hold. */
export type PauseEffect = {
  paused: boolean;
  /** Drafts that would be sent automatically within an hour, and within a day, without the pause. */
  next_hour: number;
  next_day: number;
  open: number;
  truncated: boolean;
};

/** The effect of resuming the project. */
export type ResumeEffect = {
  was_paused: boolean;
  open: number;
  expired: number;
  overdue: number;
  held: number;
  long_held: number;
  /** True if `long_held` must be confirmed, because so many drafts were held for more than a day. */
  needs_confirmation: boolean;
};

export const SETTINGS_API = {
  'GET /projects/:project/settings': { response: item<ProjectSettingsDetails>() },
  /** `seen`: the values that the form showed. If one of them has changed since, nothing is saved. */
  'PATCH /projects/:project/settings': {
    body: Type.Object({ settings: SettingTextsSchema, seen: Type.Optional(SettingTextsSchema) }),
    response: item<ProjectSettingsDetails>(),
  },
  'GET /projects/:project/sending': { response: item<SendingState>() },
  'GET /projects/:project/policy/simulate': { query: PolicyQuerySchema, response: item<PolicyEffect>() },
  'GET /projects/:project/rate-limits': { response: list<EndpointRateLimit>() },
  'PATCH /projects/:project/rate-limits/:endpoint': {
    body: Type.Object({ rate: Type.Optional(Type.Number()), burst: Type.Optional(Type.Number()) }),
    response: item<EndpointRateLimit>(),
  },
  'GET /projects/:project/pause': { response: item<PauseEffect>() },
  'POST /projects/:project/pause': { response: item<{ paused: true }>() },
  'GET /projects/:project/resume': { response: item<ResumeEffect>() },
  /** `confirmed`: the number in `long_held`, as the member typed it. */
  'POST /projects/:project/resume': {
    body: Type.Object({ confirmed: Type.Optional(Type.Integer({ minimum: 0 })) }),
    response: item<{ paused: false; canceled: number; postponed: number }>(),
  },
};
