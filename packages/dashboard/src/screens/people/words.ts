import type { Certainty, TimelineItem, UserDetails } from '@beckon/contract/dashboard';
import { spaced } from '../../parts/codes.ts';
import { decisionWords } from './decision-words.ts';

/** A value in one line: text unchanged, anything else as JSON. */
export function plain(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '–');
}

/** A warning about a user's invalid time zone; null if it is valid. */
export function zoneWarning({
  zone,
  invalid_zones: invalid,
}: Pick<UserDetails, 'zone' | 'invalid_zones'>): string | null {
  if (invalid.length === 0) return null;
  const names = invalid.map((name) => `“${name}”`).join(' and ');
  const used = zone ?? 'The time zone of the project';
  return `Invalid time zone ${names}. ${used} is used instead.`;
}

/** A warning about a user's invalid locale; null if it is valid. */
export function localeWarning({
  invalid_locale: invalid,
}: Pick<UserDetails, 'invalid_locale'>): string | null {
  return invalid === null
    ? null
    : `Invalid locale “${invalid}”. The language of the project is used instead.`;
}

/** The certainty of a past value; null if it is exact. */
export const CERTAINTY: Record<Certainty, string | null> = {
  exact: null,
  same_around_import: 'the same before and after an import',
  import: 'unknown: an import ran after this time, and earlier values are not stored',
  not_kept: 'changed later; the earlier value is not stored',
};

/** The title of a timeline item. Values of users are in quotes. */
export function headline(item: TimelineItem): string {
  const text = WORDS[item.kind](item);
  const isOfRule = item.rule !== null && item.kind !== 'event';
  return isOfRule ? `${text} · ${item.rule?.name}` : text;
}

const WORDS: Record<TimelineItem['kind'], (item: TimelineItem) => string> = {
  event: ({ title }) => title,
  created: () => 'User created',
  changed: ({ detail }) => changeWords(detail),
  joined: (item) => `Joined ${audienceOf(item)}`,
  left: (item) => `Left ${audienceOf(item)}`,
  decision: ({ title }) => decisionWords(title),
  email: ({ title }) => `Email “${title}”`,
};

function audienceOf({ audience }: TimelineItem): string {
  return audience?.name == null ? 'a deleted audience' : `“${audience.name}”`;
}

function changeWords({ traits, email, suppressed }: Record<string, unknown>): string {
  const names = Object.keys((traits ?? {}) as object);
  const parts = [
    ...(names.length > 0 ? [names.join(', ')] : []),
    ...(email === undefined ? [] : ['email address']),
    ...(suppressed === undefined ? [] : [suppressed === true ? 'triggers suppressed' : 'can trigger rules']),
  ];
  return `Changed: ${parts.join(', ')}`;
}

const SUPPRESSIONS: Record<string, string> = {
  unsubscribed: 'unsubscribed',
  complained: 'complained',
  manual: 'added manually',
  hard_bounce: 'hard bounce',
  soft_bounces: 'repeated soft bounces',
  snoozed: 'taking a break',
};

/** Why a user is suppressed, for use within a sentence. */
export function suppressionWords(reason: string): string {
  return SUPPRESSIONS[reason] ?? spaced(reason);
}

/** The suppressed subject of a user who gets no email. */
export function suppressedSubject({
  kind,
  from_erased: fromErased,
}: NonNullable<UserDetails['suppression']>): string {
  const subject = kind === 'email' ? 'address' : 'user id';
  return fromErased ? `${subject} of an erased user` : `their ${subject}`;
}

/** Whether a user can receive email, and if not, why. `note`: what limits it. */
export type Reach = { can: boolean; words: string; note: string | null };

export function reachOf(user: Pick<UserDetails, 'suppression' | 'email' | 'unsubscribed_topics'>): Reach {
  const { suppression, email, unsubscribed_topics: topics } = user;
  if (suppression)
    return {
      can: false,
      words: `Cannot receive email: ${suppressionWords(suppression.reason)}`,
      note: `Suppressed: ${suppressedSubject(suppression)}`,
    };
  if (email === null) return { can: false, words: 'Cannot receive email: no address', note: null };
  const note = topics.length === 0 ? null : `Unsubscribed from ${topics.join(', ')}`;
  return { can: true, words: 'Can receive email', note };
}
