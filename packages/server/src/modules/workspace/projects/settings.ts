import { DURATION_SYNTAX, parseDuration, printDuration } from '../../../platform/time/time-text.ts';
import { findLocale } from '../../../platform/text/locale.ts';
import { parseRate, printRate, type Rate, RATE_SYNTAX } from '../../../platform/text/rate.ts';
import {
  define,
  line,
  mailbox,
  type Setting,
  teamAddresses,
  type Topic,
  topics,
  tracking,
} from './setting-kinds.ts';

/**
 * The settings of a project. Every setting has one text form in which it is typed, stored and shown. Only changed settings are stored, so
 * that a release can change a default.
 */
export type Settings = {
  /** Local times between which no email is sent. The end may be on the next day. */
  quietHours: { start: string; end: string } | null;
  /** True if the project set its quiet hours, false if they are the default. */
  isQuietHoursSet: boolean;
  /** The maximum number of emails per user and period. Each entry applies separately. */
  frequencyCap: { emails: number; windowMs: number }[] | null;
  throttle: Rate | null;
  /** How long after its creation an untouched draft is sent automatically, or null if a member must approve it. */
  autopilotMs: number | null;
  timeZone: string;
  /** A locale such as `pt-BR`, for emails to users without their own locale. */
  language: string;
  paused: boolean;
  /** How long events, other records of the event stream and dead-lettered records are stored. Null means forever. */
  keepEventsMs: number | null;
  keepStreamMs: number | null;
  keepDeadMs: number | null;
  /** How long emails are stored as they were submitted. */
  keepEmailsMs: number | null;
  /** The sender of emails. A part is null if it was never set. */
  sender: {
    fromName: string | null;
    fromAddress: string | null;
    replyTo: string | null;
    postalAddress: string | null;
    /** An additional line in the footer of every email. */
    footer: string | null;
  };
  /** The address to which replies are forwarded. If it is null, replies go to `replyTo` and Beckon does not receive them. */
  replyForwardTo: string | null;
  /** True if Reply-To has a token, by which a reply in a mailbox names its email. */
  replyPlusAddressing: boolean;
  /** The topics of emails, from which recipients can choose. */
  topics: Topic[];
  tracking: { opens: boolean; clicks: boolean };
  /** How an email is worded: by its template alone, or also by a model if the installation has one. */
  drafting: 'template' | 'model';
  /** The team members' addresses that receive notifications about waiting drafts. */
  teamAddresses: string[];
  /** True if the project has a sandbox, which has its own keys. */
  sandbox: boolean;
};

const OFF = 'off';
const HOURS = /^((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)$/;
const CAP = /^([1-9]\d{0,3})\/(\w+)$/;
const CAPS_MAX = 5;
const CAP_WINDOW_MAX_MS = 90 * 86_400_000;
const AUTOPILOT_MAX_MS = 30 * 86_400_000;
const FOREVER = 'forever';
const DAY_MS = 86_400_000;
/** About a hundred years, the longest retention period. */
const KEPT_MAX_DAYS = 36_500;

const quietHours = define<Settings['quietHours']>({
  fallback: '21:00-08:00',
  syntax: 'two different times of day such as 21:00-08:00, or off',
  parse(text) {
    if (text === OFF) return null;
    const [, start, end] = HOURS.exec(text) ?? [];
    return start && end && start !== end ? { start, end } : undefined;
  },
  print: (value) => (value ? `${value.start}-${value.end}` : OFF),
});

const frequencyCap = define<Settings['frequencyCap']>({
  fallback: '1/24h,3/7d',
  syntax: `up to ${CAPS_MAX} caps such as 1/24h,3/7d (emails per user, periods up to 90d, one cap per period), or off`,
  parse(text) {
    if (text === OFF) return null;
    const caps = text.split(',').map(parseCap);
    const validCaps = caps.filter((cap) => cap !== undefined);
    const windows = new Set(validCaps.map((cap) => cap.windowMs));
    return windows.size === caps.length && caps.length <= CAPS_MAX ? validCaps : undefined;
  },
  print: (value) =>
    value?.map(({ emails, windowMs }) => `${emails}/${printDuration(windowMs)}`).join(',') ?? OFF,
});

function parseCap(text: string): { emails: number; windowMs: number } | undefined {
  const [, emails, window] = CAP.exec(text) ?? [];
  const windowMs = parseDuration(window ?? '');
  return windowMs !== undefined && windowMs <= CAP_WINDOW_MAX_MS
    ? { emails: Number(emails), windowMs }
    : undefined;
}

const throttle = define<Settings['throttle']>({
  fallback: '10/s',
  syntax: `${RATE_SYNTAX}, or off`,
  parse: (text) => (text === OFF ? null : parseRate(text)),
  print: (value) => (value ? printRate(value) : OFF),
});

const autopilot = define<Settings['autopilotMs']>({
  fallback: '2h',
  syntax: `${DURATION_SYNTAX}, at most 30d, or draft (no autopilot)`,
  parse(text) {
    if (text === 'draft') return null;
    const ms = parseDuration(text);
    return ms !== undefined && ms <= AUTOPILOT_MAX_MS ? ms : undefined;
  },
  print: (value) => (value === null ? 'draft' : printDuration(value)),
});

const timeZone = define<string>({
  fallback: 'UTC',
  syntax: 'a name of the IANA time zone database such as Europe/Paris',
  parse(text) {
    // Temporal also accepts offsets, but a fixed offset is wrong for half of the year in most places.
    if (!/^[A-Za-z]/.test(text)) return undefined;
    try {
      return new Temporal.ZonedDateTime(0n, text).timeZoneId;
    } catch {
      return undefined;
    }
  },
  print: (value) => value,
});

const language = define<string>({
  fallback: 'en',
  syntax: 'a language tag such as en, de or pt-BR',
  parse: (text) => findLocale(text) ?? undefined,
  print: (value) => value,
});

const drafting = define<Settings['drafting']>({
  fallback: 'template',
  syntax: 'template or model',
  parse: (text) => (text === 'template' || text === 'model' ? text : undefined),
  print: (value) => value,
});

const onOrOff = define<boolean>({
  fallback: OFF,
  syntax: 'on or off',
  parse: (text) => (text === 'on' ? true : text === OFF ? false : undefined),
  print: (value) => (value ? 'on' : OFF),
});

const paused = define<boolean>({
  fallback: 'false',
  syntax: 'true or false',
  parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  print: String,
});

function keeping(fallback: string, daysMin: number): ReturnType<typeof define<number | null>> {
  return define<number | null>({
    fallback,
    syntax: `${DURATION_SYNTAX}, at least ${daysMin}d and at most ${KEPT_MAX_DAYS}d, or ${FOREVER}`,
    parse(text) {
      if (text === FOREVER) return null;
      const ms = parseDuration(text);
      return ms !== undefined && ms >= daysMin * DAY_MS && ms <= KEPT_MAX_DAYS * DAY_MS ? ms : undefined;
    },
    print: (value) => (value === null ? FOREVER : printDuration(value)),
  });
}

const keepEvents = keeping(FOREVER, 31);
const keepStream = keeping('90d', 1);
const keepDead = keeping(FOREVER, 1);
const keepEmails = keeping('90d', 7);

/** The settings by name. The guide lists what each accepts. */
export const CATALOGUE = {
  quiet_hours: quietHours,
  frequency_cap: frequencyCap,
  throttle,
  autopilot,
  drafting,
  time_zone: timeZone,
  language,
  paused,
  keep_events: keepEvents,
  keep_stream: keepStream,
  keep_dead: keepDead,
  keep_emails: keepEmails,
  from_name: line('a name', 100),
  from_address: mailbox,
  reply_to: mailbox,
  postal_address: line('a postal address', 300),
  footer: line('a line of text', 300),
  reply_forward_to: mailbox,
  reply_plus_addressing: onOrOff,
  topics,
  tracking,
  team_addresses: teamAddresses,
  sandbox: onOrOff,
} as const;

export type SettingName = keyof typeof CATALOGUE;
export const SETTING_NAMES = Object.keys(CATALOGUE) as SettingName[];
export type StoredSettings = Partial<Record<SettingName, string>>;

export function readSettings(stored: StoredSettings): Settings {
  return {
    quietHours: read(quietHours, stored.quiet_hours),
    isQuietHoursSet: stored.quiet_hours !== undefined,
    frequencyCap: read(frequencyCap, stored.frequency_cap),
    throttle: read(throttle, stored.throttle),
    autopilotMs: read(autopilot, stored.autopilot),
    drafting: read(drafting, stored.drafting),
    timeZone: read(timeZone, stored.time_zone),
    language: read(language, stored.language),
    paused: read(paused, stored.paused),
    keepEventsMs: read(keepEvents, stored.keep_events),
    keepStreamMs: read(keepStream, stored.keep_stream),
    keepDeadMs: read(keepDead, stored.keep_dead),
    keepEmailsMs: read(keepEmails, stored.keep_emails),
    sender: {
      fromName: read(CATALOGUE.from_name, stored.from_name),
      fromAddress: read(mailbox, stored.from_address),
      replyTo: read(mailbox, stored.reply_to),
      postalAddress: read(CATALOGUE.postal_address, stored.postal_address),
      footer: read(CATALOGUE.footer, stored.footer),
    },
    replyForwardTo: read(mailbox, stored.reply_forward_to),
    replyPlusAddressing: read(onOrOff, stored.reply_plus_addressing),
    topics: read(topics, stored.topics),
    tracking: read(tracking, stored.tracking),
    teamAddresses: read(teamAddresses, stored.team_addresses),
    sandbox: read(onOrOff, stored.sandbox),
  };
}

function read<T>(setting: Setting<T>, text = setting.fallback): T {
  const value = setting.parse(text);
  if (value === undefined) throw new Error(`a stored setting is not ${setting.syntax}: ${text}`);
  return value;
}

/** Settings that are separate for a sandbox: the recipients of notifications and forwarded replies, and the pause. */
const NOT_OF_SANDBOX: SettingName[] = [
  'team_addresses',
  'reply_forward_to',
  'reply_plus_addressing',
  'paused',
  'sandbox',
];

/** Returns the settings that a sandbox copies from its project, among those that were set there. */
export function settingsOfSandbox(stored: StoredSettings): Record<string, string> {
  return Object.fromEntries(
    Object.entries(stored).filter(([name]) => !NOT_OF_SANDBOX.includes(name as SettingName)),
  );
}

/** Returns the text form of a setting, or the accepted syntax if the text is invalid. */
export function normaliseSetting(name: SettingName, text: string): { text: string } | { syntax: string } {
  const setting = CATALOGUE[name];
  const normal = setting.normalise(text);
  return normal === undefined ? { syntax: setting.syntax } : { text: normal };
}

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(CATALOGUE, name);
}

/** Returns every setting in its text form, with the default if it was not set. */
export function printSettings(stored: StoredSettings): Record<SettingName, string> {
  return Object.fromEntries(
    SETTING_NAMES.map((name) => [name, stored[name] ?? CATALOGUE[name].fallback]),
  ) as Record<SettingName, string>;
}

export type SettingText = { name: SettingName; value: string; default: string; format: string };

/** Returns every setting with its value, default and accepted values. */
export function describeSettings(texts: Record<SettingName, string>): SettingText[] {
  return SETTING_NAMES.map((name) => {
    const { fallback, syntax } = CATALOGUE[name];
    return { name, value: texts[name], default: fallback, format: syntax };
  });
}
