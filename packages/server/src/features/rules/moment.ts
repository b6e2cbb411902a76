import { parseInstant } from '../../base/instant.ts';
import type { Anchor, Definition, Trigger } from './rule.ts';

type Timed = Extract<Trigger, { kind: 'relative' | 'date' | 'absence' }>;

/** When a trigger that lies in time is to be considered, and after which moment it is too late. */
export type Moment = { at: number; endsAt: number | null };

export const DAY_MS = 86_400_000;
/** Nothing waits for longer; and with a year on top it is a moment that the database can hold. */
const LAST_MOMENT = Date.UTC(2200, 0, 1);

export function isTimed(trigger: Trigger): trigger is Timed {
  return trigger.kind === 'relative' || trigger.kind === 'date' || trigger.kind === 'absence';
}

/** Whether each event has a moment of its own: the rule is not about the newest one alone. */
export function isOfEach({ about }: Pick<Definition, 'about'>, trigger: Trigger): boolean {
  return trigger.kind === 'relative' && about?.event !== trigger.event;
}

/** Null where the event or the trait does not say a moment. */
export function momentOf(trigger: Timed, anchor: Pick<Anchor, 'occurredAt' | 'properties'>): Moment | null {
  if (trigger.kind === 'absence') return { at: anchor.occurredAt + trigger.ms, endsAt: null };
  const reference = trigger.kind === 'date' ? anchor.occurredAt : referenceOf(trigger, anchor);
  if (reference === null || reference > LAST_MOMENT) return null;
  return trigger.side === 'before'
    ? { at: reference - trigger.ms, endsAt: reference }
    : { at: reference + trigger.ms, endsAt: null };
}

/** So many days after it as a property says: of 24 hours each, whatever the clocks do meanwhile. */
export function daysAfter(
  { occurredAt, properties }: Pick<Anchor, 'occurredAt' | 'properties'>,
  property: string,
): number | null {
  const days = Object.hasOwn(properties, property) ? properties[property] : undefined;
  if (typeof days !== 'number' || days < 0) return null;
  const at = Math.round(occurredAt + days * DAY_MS);
  return at <= LAST_MOMENT ? at : null;
}

function referenceOf(
  { plusDays }: { plusDays: string | null },
  anchor: Pick<Anchor, 'occurredAt' | 'properties'>,
): number | null {
  return plusDays === null ? anchor.occurredAt : daysAfter(anchor, plusDays);
}

/** The moment that a trait tells; null where it tells none. */
export function dateIn(value: unknown): number | null {
  const at = typeof value === 'string' ? parseInstant(value) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}
