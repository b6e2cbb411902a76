import type { Certainty, TimelineItem, UserShown } from '@beckon/contract/dashboard';

/** A value as somebody sent it, on one line: a text as it is, anything else as JSON. */
export function plain(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '–');
}

/** What is wrong with the time zone of a user, and which one is used; null where nothing is. */
export function zoneWarning({
  zone,
  invalid_zones: invalid,
}: Pick<UserShown, 'zone' | 'invalid_zones'>): string | null {
  if (invalid.length === 0) return null;
  const names = invalid.map((name) => `“${name}”`).join(' and ');
  const used = zone ?? 'The time zone of the project';
  return `Invalid time zone ${names}. ${used} is used instead.`;
}

/** What is wrong with the locale of a user, and which one is used; null where nothing is. */
export function localeWarning({ invalid_locale: invalid }: Pick<UserShown, 'invalid_locale'>): string | null {
  return invalid === null
    ? null
    : `Invalid locale “${invalid}”. The language of the project is used instead.`;
}

/** How sure a value of then is, where it is not certain. */
export const CERTAINTY: Record<Certainty, string | null> = {
  exact: null,
  same_around_import: 'the same before and after an import',
  import: 'changed by import; earlier values not kept',
  not_kept: 'changed later; the earlier value is not kept',
};

/** What a line of the timeline says, in a few words; what its owner wrote stands in quotes. */
export function headline(item: TimelineItem): string {
  const said = WORDS[item.kind](item);
  const isOfRule = item.rule !== null && item.kind !== 'event';
  return isOfRule ? `${said} · ${item.rule?.name}` : said;
}

const WORDS: Record<TimelineItem['kind'], (item: TimelineItem) => string> = {
  event: ({ title }) => title,
  created: () => 'First known',
  changed: ({ detail }) => changeWords(detail),
  joined: (item) => `Joined ${audienceOf(item)}`,
  left: (item) => `Left ${audienceOf(item)}`,
  decision: ({ title }) => (title === 'fired' ? 'Fired' : `Not fired: ${spaced(title)}`),
  draft: ({ title }) => `Letter drafted: “${title}”`,
  move: ({ title, actor, detail }) =>
    `${capital(spaced(title))}${actor === null ? '' : ` by ${actor}`}: ${spaced(plain(detail['to']))}`,
  outcome: ({ title }) => capital(spaced(title.replace(/^email\./, ''))),
  reply: ({ title }) => `Replied: “${title}”`,
};

function audienceOf({ audience }: TimelineItem): string {
  return audience?.name == null ? 'an audience that was deleted' : `“${audience.name}”`;
}

function changeWords({ traits, email, suppressed }: Record<string, unknown>): string {
  const names = Object.keys((traits ?? {}) as object);
  const parts = [
    ...(names.length > 0 ? [names.join(', ')] : []),
    ...(email === undefined ? [] : ['e-mail address']),
    ...(suppressed === undefined ? [] : [suppressed === true ? 'triggers suppressed' : 'triggers live']),
  ];
  return `Changed: ${parts.join(', ')}`;
}

function spaced(text: string): string {
  return text.replaceAll('_', ' ');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What is suppressed, where a user gets no email. */
export function suppressedSubject({ kind, from_erased: fromErased }: NonNullable<UserShown['held']>): string {
  const subject = kind === 'address' ? 'address' : 'user id';
  return fromErased ? `${subject} of an erased user` : `their ${subject}`;
}
