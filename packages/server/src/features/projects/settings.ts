import { DURATION_SYNTAX, parseDuration, printDuration } from '../../base/duration.ts';
import { findLocale } from '../../base/locale.ts';
import { parseRate, printRate, type Rate, RATE_SYNTAX } from '../../base/rate.ts';
import { define, type Setting } from './setting.ts';
import { line, mailbox, type Topic, teamAddresses, topics, tracking } from './setting-texts.ts';

/**
 * What a project decides for itself. Every setting has one text form, in which it is typed, stored and shown; only what
 * was set is stored, so that a default may change with a release.
 */
export type Settings = {
  /** Local times between which nothing is sent; the end may be on the next day. */
  quietHours: { start: string; end: string } | null;
  /** Whether the project set its quiet hours. False: they are the default. */
  isQuietHoursSet: boolean;
  /** At most so many letters to one person in so much time, every entry by itself. */
  frequencyCap: { letters: number; windowMs: number }[] | null;
  throttle: Rate | null;
  /** How long after its making an untouched draft leaves by itself; null: only when a person approves it. */
  autopilotMs: number | null;
  timeZone: string;
  /** A locale, such as `pt-BR`: of the emails to users who have no locale of their own. */
  language: string;
  paused: boolean;
  /** How long events, what the stream shows beside them, and dead letters are kept; null: for ever. */
  keepEventsMs: number | null;
  keepStreamMs: number | null;
  keepDeadMs: number | null;
  /** How long letters are kept as they were handed over. */
  keepEmailsMs: number | null;
  /** As whom it writes; null where it was never said. */
  sender: {
    fromName: string | null;
    fromAddress: string | null;
    replyTo: string | null;
    postalAddress: string | null;
    /** One more line at the foot of every letter. */
    footer: string | null;
  };
  /** Where what people answer is handed on to; null: their answers go to `replyTo`, and nothing of them is heard here. */
  replyForwardTo: string | null;
  /** What letters can be about, for whoever wants some of them. */
  topics: Topic[];
  tracking: { opens: boolean; clicks: boolean };
  /** Who words a letter: its template alone, or a model after it, where the installation has one. */
  drafting: 'template' | 'model';
  /** Who of the team is told what waits. */
  teamAddresses: string[];
  /** There is a sandbox beside it, and keys of its own open that. */
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
/** Further back no calendar of ours reaches. */
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
    const known = caps.filter((cap) => cap !== undefined);
    const windows = new Set(known.map((cap) => cap.windowMs));
    return windows.size === caps.length && caps.length <= CAPS_MAX ? known : undefined;
  },
  print: (value) =>
    value?.map(({ letters, windowMs }) => `${letters}/${printDuration(windowMs)}`).join(',') ?? OFF,
});

function parseCap(text: string): { letters: number; windowMs: number } | undefined {
  const [, letters, window] = CAP.exec(text) ?? [];
  const windowMs = parseDuration(window ?? '');
  return windowMs !== undefined && windowMs <= CAP_WINDOW_MAX_MS
    ? { letters: Number(letters), windowMs }
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
    // Temporal takes offsets too, but a fixed offset is wrong for half of the year in most places.
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

const sandbox = define<boolean>({
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

/** By the names under which people set them; the guide shows what each takes. */
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
  topics,
  tracking,
  team_addresses: teamAddresses,
  sandbox,
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
    topics: read(topics, stored.topics),
    tracking: read(tracking, stored.tracking),
    teamAddresses: read(teamAddresses, stored.team_addresses),
    sandbox: read(sandbox, stored.sandbox),
  };
}

function read<T>(setting: Setting<T>, text = setting.fallback): T {
  const value = setting.parse(text);
  if (value === undefined) throw new Error(`a stored setting is not ${setting.syntax}: ${text}`);
  return value;
}

/** Who of the team hears of a project, and where answers are handed on to, is said of each by itself; and a pause is of one. */
const NOT_OF_SANDBOX: SettingName[] = ['team_addresses', 'reply_forward_to', 'paused', 'sandbox'];

/** What a sandbox takes over from its project, of what was ever set there. */
export function settingsOfSandbox(stored: StoredSettings): Record<string, string> {
  return Object.fromEntries(
    Object.entries(stored).filter(([name]) => !NOT_OF_SANDBOX.includes(name as SettingName)),
  );
}

/** The text under which a setting is stored and shown, or what is allowed instead. */
export function normaliseSetting(name: SettingName, text: string): { text: string } | { syntax: string } {
  const setting = CATALOGUE[name];
  const normal = setting.normalise(text);
  return normal === undefined ? { syntax: setting.syntax } : { text: normal };
}

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(CATALOGUE, name);
}

/** Every setting in its text form; what was never set in that of its default. */
export function printSettings(stored: StoredSettings): Record<SettingName, string> {
  return Object.fromEntries(
    SETTING_NAMES.map((name) => [name, stored[name] ?? CATALOGUE[name].fallback]),
  ) as Record<SettingName, string>;
}

export type SettingText = { name: SettingName; value: string; default: string; format: string };

/** Every setting with its value, default and accepted values. */
export function describeSettings(texts: Record<SettingName, string>): SettingText[] {
  return SETTING_NAMES.map((name) => {
    const { fallback, syntax } = CATALOGUE[name];
    return { name, value: texts[name], default: fallback, format: syntax };
  });
}
