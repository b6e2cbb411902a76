import { TRAITS_MAX_CHARS } from '@beckon/contract';
import {
  type Person,
  type PersonChange,
  isKnownTrait,
  fitsColumn,
  isSame,
  isSuppressed,
} from '../users/index.ts';
import { ZONE_TRAITS, zoneOf } from '../../platform/time/zone.ts';
import { LOCALE_TRAIT, localeOf } from '../../platform/text/locale.ts';
import { moveWatermark, liftIsUnknown } from './move-watermark.ts';

/** A user as accepted. */
export type AcceptedUser = { external_user_id: string; email?: string; traits?: Record<string, unknown> };

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
  /** True if a record accepted before this one is still waiting. Then the sequence number of each write is stored. */
  olderWaits: boolean;
};

/**
 * Merges an accepted user into the stored one. Sent keys overwrite, others stay, and null removes. In any order of processing, the record
 * accepted last decides each trait and the address. A value that would make the traits exceed their maximum length is left out.
 */
export function mergeUser(
  person: Person,
  change: PersonChange,
  { user, mark }: { user: AcceptedUser; mark: Mark },
): void {
  for (const key of Object.keys(user.traits ?? {})) {
    const value = user.traits?.[key];
    const writtenBy = person.written.traits.get(key) ?? 0;
    if (writtenBy > mark.seq || !fitsLimit(person, change, { key, value })) continue;
    remember(person, change, { key, mark });
    setTrait(person, change, { key, value });
  }
  if (user.traits && hasInvalidZone(person, user.traits)) change.warnings.add('invalid_time_zone');
  if (user.traits && hasInvalidLocale(person, user.traits)) change.warnings.add('invalid_locale');
  if (user.email !== undefined) mergeEmail(person, change, { email: user.email, mark });
  updateFirstSeen(person, change, mark.acceptedAt);
}

/** Returns whether any trait with a time zone is invalid, so that it is skipped when the zone is determined. */
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

/** Returns whether the trait fits into the maximum length. A value that makes the traits shorter always does. */
function fitsLimit(person: Person, change: PersonChange, { key, value }: Trait): boolean {
  const old = person.traits.get(key);
  if (old === value) return true;
  const more = charsOf(key, value ?? undefined) - charsOf(key, old);
  change.traitChars ??= person.traits
    .entries()
    .reduce((sum, [name, traitValue]) => sum + charsOf(name, traitValue), 0);
  if (more > 0 && change.traitChars + more > TRAITS_MAX_CHARS) {
    change.warnings.add('traits_too_long');
    return false;
  }
  change.traitChars += more;
  return true;
}

/** Returns the approximate length in JSON, or 0 if the trait is not set. */
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

/** A newer time is written only if it moved by more than this, because a minute is not worth a new row. */
const SEEN_EVERY_MS = 3_600_000;

/** Only events count as activity of a user. A nightly upload of all users does not. */
function updateLastSeen(person: Person, change: PersonChange, at: number): void {
  if (at <= person.lastSeenAt + (change.isNew ? 0 : SEEN_EVERY_MS)) return;
  person.lastSeenAt = at;
  change.isDirty = true;
}

function updateFirstSeen(person: Person, change: PersonChange, at: number): void {
  if (at >= person.firstSeenAt) return;
  person.firstSeenAt = at;
  change.isDirty = true;
}

/** Applies a new event: it sets or lifts the watermark and counts as activity of the user. */
export function mergeEvent(
  person: Person,
  change: PersonChange,
  { suppressed, occurredAt, mark }: { suppressed: boolean; occurredAt: number; mark: Mark },
): void {
  const wasSuppressed = isSuppressed(person);
  if (moveWatermark(person, { suppressed, ...mark })) change.isDirty = true;
  if (isSuppressed(person) !== wasSuppressed) change.watermarkMoved = !change.watermarkMoved;
  if (suppressed && liftIsUnknown(person)) change.liftUnknown = true;
  updateFirstSeen(person, change, occurredAt);
  updateLastSeen(person, change, occurredAt);
}

/** Returns the trait changes as the event stream shows them: the old and new values, null if not set. */
export function traitChanges(person: Person, change: PersonChange): Record<string, [unknown, unknown]> {
  const changes: [string, [unknown, unknown]][] = [];
  for (const [key, before] of change.before) {
    const now = person.traits.get(key);
    if (!isSame(before, now)) changes.push([key, [before ?? null, now ?? null]]);
  }
  return Object.fromEntries(changes);
}

/** Returns whether `traitChanges` would return any, without collecting them. */
export function hasTraitChange(person: Person, change: PersonChange): boolean {
  return change.before.entries().some(([key, before]) => !isSame(before, person.traits.get(key)));
}
