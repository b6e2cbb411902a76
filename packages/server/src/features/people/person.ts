import { TRAITS_MAX_CHARS } from '@beckon/contract';
import { canonicalJson } from '../../base/canonical-json.ts';
import { parseInstant } from '../../base/instant.ts';
import { LOCALE_TRAIT, localeOf } from '../../base/locale.ts';
import { ZONE_TRAITS, zoneOf } from '../../base/zone.ts';
import { isSuppressed, liftIsUnknown, moveWatermark, type Watermark } from './watermark.ts';

/** What is known about a tracked user. Times are milliseconds. */
export type Person = Watermark & {
  projectId: number;
  userId: string;
  /** Under their wire names, known ones too. */
  traits: Map<string, unknown>;
  email: string | null;
  firstSeenAt: number;
  lastSeenAt: number;
  /** Which accept sequence wrote a trait or the address; kept only as long as older records wait to be digested. */
  written: Written;
};

export type Written = { traits: Map<string, number>; email: number | null };

/** A user as it was accepted. */
export type AcceptedUser = { external_user_id: string; email?: string; traits?: Record<string, unknown> };

/** The columns in which known traits live, as long as they are what they should be. */
export const KNOWN_TRAITS = {
  name: 'name',
  plan: 'plan',
  signupDate: 'signup_date',
  company: 'company',
  role: 'role',
} as const;
export type KnownTrait = keyof typeof KNOWN_TRAITS;

export function isKnownTrait(key: string): key is KnownTrait {
  return Object.hasOwn(KNOWN_TRAITS, key);
}

/** Whether a known trait fits into its column; otherwise it stays what it is, among the others. */
export function fitsColumn(key: KnownTrait, value: unknown): value is string {
  return typeof value === 'string' && (key !== 'signupDate' || !Number.isNaN(parseInstant(value)));
}

export function newPerson(projectId: number, userId: string, seenAt: number): Person {
  return {
    projectId,
    userId,
    traits: new Map(),
    email: null,
    firstSeenAt: seenAt,
    lastSeenAt: seenAt,
    suppressedSeq: null,
    normalSeq: null,
    liveSeq: null,
    triggersLiveSince: null,
    written: { traits: new Map(), email: null },
  };
}

/** What one batch did to a person. */
export type PersonChange = {
  isNew: boolean;
  /** Whether anything at all has to be written. */
  isDirty: boolean;
  emailChanged: boolean;
  /** Whether triggers may fire is another answer than before this batch. */
  watermarkMoved: boolean;
  /** Trait → what it was before this batch; undefined where it was not set. */
  before: Map<string, unknown>;
  /** How long the traits are by now; null until somebody asks. */
  traitChars: number | null;
  /** Warnings about values that were accepted and are not used, or not kept. */
  warnings: Set<PersonWarning>;
  /** Which event lifted the watermark has to be looked up: see `watermark.ts`. */
  liftUnknown: boolean;
};

/**
 * - `trait_…_not_text`: a known trait of a shape that its column cannot hold.
 * - `traits_too_long`: there was no room for a trait, so it was left out.
 * - `invalid_time_zone`: a trait names no time zone, so another one is used.
 * - `invalid_locale`: the trait `locale` names no locale, so the language of the project is used.
 */
export type PersonWarning =
  | `trait_${KnownTrait}_not_text`
  | 'traits_too_long'
  | 'invalid_time_zone'
  | 'invalid_locale';

export function noChange(isNew: boolean): PersonChange {
  return {
    isNew,
    isDirty: isNew,
    emailChanged: false,
    watermarkMoved: false,
    before: new Map(),
    traitChars: null,
    warnings: new Set(),
    liftUnknown: false,
  };
}

export type Mark = {
  seq: number;
  acceptedAt: number;
  /** Whether a record accepted before this one still waits: then it is remembered who wrote what. */
  olderWaits: boolean;
};

/**
 * Merges one accepted user into the person. Keys that were sent overwrite, others stay; null removes. In whatever order
 * records are digested, the one accepted last has the last word on each trait, and on the address. What would make the traits
 * longer than they may be is left out.
 */
export function mergeUser(
  person: Person,
  change: PersonChange,
  { user, mark }: { user: AcceptedUser; mark: Mark },
): void {
  for (const key of Object.keys(user.traits ?? {})) {
    const value = user.traits?.[key];
    const writtenBy = person.written.traits.get(key) ?? 0;
    if (writtenBy > mark.seq || !hasRoom(person, change, { key, value })) continue;
    remember(person, change, { key, mark });
    setTrait(person, change, { key, value });
  }
  if (user.traits && hasInvalidZone(person, user.traits)) change.warnings.add('invalid_time_zone');
  if (user.traits && hasInvalidLocale(person, user.traits)) change.warnings.add('invalid_locale');
  if (user.email !== undefined) mergeEmail(person, change, { email: user.email, mark });
  firstSeen(person, change, mark.acceptedAt);
}

/** Whether traits that this record sets are passed over, or pass over to others, when the zone is read. */
function hasInvalidZone({ traits }: Person, sent: Record<string, unknown>): boolean {
  if (!ZONE_TRAITS.some((name) => Object.hasOwn(sent, name))) return false;
  const zones = ZONE_TRAITS.map((name) => traits.get(name));
  return zoneOf(zones, 'UTC').invalid.length > 0;
}

function hasInvalidLocale({ traits }: Person, sent: Record<string, unknown>): boolean {
  return Object.hasOwn(sent, LOCALE_TRAIT) && localeOf(traits.get(LOCALE_TRAIT), 'en').invalid !== null;
}

function remember(person: Person, change: PersonChange, { key, mark }: { key: string; mark: Mark }): void {
  const { traits } = person.written;
  if (mark.olderWaits) {
    traits.set(key, mark.seq);
    change.isDirty = true;
  } else if (traits.delete(key)) change.isDirty = true;
}

type Trait = { key: string; value: unknown };

/** Whatever makes them shorter has room. */
function hasRoom(person: Person, change: PersonChange, { key, value }: Trait): boolean {
  const old = person.traits.get(key);
  if (old === value) return true;
  const more = charsOf(key, value ?? undefined) - charsOf(key, old);
  change.traitChars ??= person.traits.entries().reduce((sum, [name, one]) => sum + charsOf(name, one), 0);
  if (more > 0 && change.traitChars + more > TRAITS_MAX_CHARS) {
    change.warnings.add('traits_too_long');
    return false;
  }
  change.traitChars += more;
  return true;
}

/** About what it is in JSON; nothing where it is not set. */
function charsOf(key: string, value: unknown): number {
  if (value === undefined) return 0;
  return key.length + (typeof value === 'string' ? value.length : JSON.stringify(value).length) + PUNCTUATION;
}

const PUNCTUATION = '"":"",'.length;

function setTrait(person: Person, change: PersonChange, { key, value }: Trait): void {
  const old = person.traits.get(key);
  const next = value === null ? undefined : value;
  if (isKnownTrait(key) && next !== undefined && !fitsColumn(key, next))
    change.warnings.add(`trait_${key}_not_text`);
  if (isSame(old, next)) return;
  if (!change.before.has(key)) change.before.set(key, old);
  if (next === undefined) person.traits.delete(key);
  else person.traits.set(key, next);
  change.isDirty = true;
}

/** As the database compares: the order of an object's keys says nothing. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  return canonicalJson(a) === canonicalJson(b);
}

function mergeEmail(
  person: Person,
  change: PersonChange,
  { email, mark }: { email: string; mark: Mark },
): void {
  const { written } = person;
  if (written.email !== null && written.email > mark.seq) return;
  const writtenBy = mark.olderWaits ? mark.seq : null;
  if (written.email !== writtenBy) {
    written.email = writtenBy;
    change.isDirty = true;
  }
  if (person.email === email) return;
  person.email = email;
  change.emailChanged = true;
}

/** One that is a minute newer is not worth a new row: it is written when it moved by more than this. */
const SEEN_EVERY_MS = 3_600_000;

/** Only what a person does says that they were here: a nightly upload of all users does not. */
function lastSeen(person: Person, change: PersonChange, at: number): void {
  if (at <= person.lastSeenAt + (change.isNew ? 0 : SEEN_EVERY_MS)) return;
  person.lastSeenAt = at;
  change.isDirty = true;
}

function firstSeen(person: Person, change: PersonChange, at: number): void {
  if (at >= person.firstSeenAt) return;
  person.firstSeenAt = at;
  change.isDirty = true;
}

/** An event that nobody sent before: it lifts or sets the watermark, and says that the person was here. */
export function mergeEvent(
  person: Person,
  change: PersonChange,
  { suppressed, occurredAt, mark }: { suppressed: boolean; occurredAt: number; mark: Mark },
): void {
  const was = isSuppressed(person);
  if (moveWatermark(person, { suppressed, ...mark })) change.isDirty = true;
  if (isSuppressed(person) !== was) change.watermarkMoved = !change.watermarkMoved;
  if (suppressed && liftIsUnknown(person)) change.liftUnknown = true;
  firstSeen(person, change, occurredAt);
  lastSeen(person, change, occurredAt);
}

/** A trait's changes as the stream shows them: what it was, what it is; null where it was or is not set. */
export function traitChanges(person: Person, change: PersonChange): Record<string, [unknown, unknown]> {
  const changes: [string, [unknown, unknown]][] = [];
  for (const [key, before] of change.before) {
    const now = person.traits.get(key);
    if (!isSame(before, now)) changes.push([key, [before ?? null, now ?? null]]);
  }
  return Object.fromEntries(changes);
}

/** Whether `traitChanges` has any, without collecting them. */
export function hasTraitChange(person: Person, change: PersonChange): boolean {
  return change.before.entries().some(([key, before]) => !isSame(before, person.traits.get(key)));
}
