import { canonicalJson } from '../../../platform/text/canonical-json.ts';
import { parseInstant } from '../../../platform/time/time-text.ts';
import type { Watermark } from './watermark.ts';

/** A tracked user. Times are in milliseconds. */
export type Person = Watermark & {
  projectId: number;
  userId: string;
  /** Under their API names, including known ones. */
  traits: Map<string, unknown>;
  email: string | null;
  firstSeenAt: number;
  lastSeenAt: number;
  /** The sequence number of the record that wrote a trait or the address. It is stored only while older records wait for processing. */
  written: WriteSequences;
};

export type WriteSequences = { traits: Map<string, number>; email: number | null };

/** The columns of known traits, used while their values have the expected type. */
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

/** Returns whether a known trait fits into its column. Otherwise it is stored among the other traits. */
export function fitsColumn(key: KnownTrait, value: unknown): value is string {
  return typeof value === 'string' && (key !== 'signupDate' || !Number.isNaN(parseInstant(value)));
}

/** The changes of one batch to a user. */
export type PersonChange = {
  isNew: boolean;
  /** True if anything must be written. */
  isDirty: boolean;
  emailChanged: boolean;
  /** True if this batch changed whether triggers may fire. */
  watermarkMoved: boolean;
  /** Maps traits to their values before this batch, undefined if they were not set. */
  before: Map<string, unknown>;
  /** The current length of the traits, or null before it is needed. */
  traitChars: number | null;
  /** Warnings about accepted values that are not used or not stored. */
  warnings: Set<PersonWarning>;
  /** True if the event that lifted the suppression has to be looked up. See `watermark.ts`. */
  liftUnknown: boolean;
};

/**
 * - `trait_…_not_text`: a known trait has a type that its column cannot hold.
 * - `traits_too_long`: a trait was left out, because the traits would exceed the maximum length.
 * - `invalid_time_zone`: a trait is not a valid time zone, so another one is used.
 * - `invalid_locale`: the trait `locale` is not a valid locale, so the language of the project is used.
 */
export type PersonWarning =
  | `trait_${KnownTrait}_not_text`
  | 'traits_too_long'
  | 'invalid_time_zone'
  | 'invalid_locale';

/** Compares like the database, without regard to the order of object keys. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  return canonicalJson(a) === canonicalJson(b);
}
