import { WEBHOOK_TYPES, type WebhookType } from '@beckon/contract';
import { Fault } from '../../base/fault.ts';

/** Why nothing is sent to it: a person said so, it answered 410, nothing succeeded for days, or it is being deleted. */
export type DisabledReason = 'manual' | 'gone' | 'failing' | 'deleted';

/** Where a project wants to be told what became of its letters. */
export type Endpoint = {
  projectId: number;
  id: string;
  url: string;
  /** Null: all that there are, and those that will be. */
  types: WebhookType[] | null;
  description: string;
  createdAt: number;
  disabledAt: number | null;
  disabledReason: DisabledReason | null;
  /** Requests a second, and at once. */
  perSecond: number;
  inFlightMax: number;
};

export type EndpointPlace = { projectId: number; endpointId: string };

export const ENDPOINTS_MAX = 10;
export const PER_SECOND_DEFAULT = 50;
const PER_SECOND_MIN = 0.1;
const PER_SECOND_MAX = 10_000;
export const IN_FLIGHT_DEFAULT = 10;
/** As many connections as there may be to one. */
const IN_FLIGHT_MAX = 200;
const DESCRIPTION_MAX = 200;

/** Null: all types. */
export function readTypes(types: string[] | null): WebhookType[] | null {
  if (types === null) return null;
  const known = WEBHOOK_TYPES as readonly string[];
  const strange = types.find((type) => !known.includes(type));
  if (strange !== undefined)
    throw invalid(`${JSON.stringify(strange)} is not an event type. Use ${known.join(', ')}`, 'types');
  if (types.length === 0) throw invalid('Select at least one event type', 'types');
  return WEBHOOK_TYPES.filter((type) => types.includes(type));
}

export function readDescription(text: string): string {
  if (text.length <= DESCRIPTION_MAX && !/\p{Cc}/u.test(text) && text.isWellFormed()) return text;
  throw invalid(
    `The description must be a single line of at most ${DESCRIPTION_MAX} characters`,
    'description',
  );
}

export function readPerSecond(value: number): number {
  if (value >= PER_SECOND_MIN && value <= PER_SECOND_MAX) return value;
  throw invalid(
    `Requests per second must be a number from ${PER_SECOND_MIN} to ${PER_SECOND_MAX}`,
    'per_second',
  );
}

export function readInFlight(value: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= IN_FLIGHT_MAX) return value;
  throw invalid(`Concurrent requests must be a whole number from 1 to ${IN_FLIGHT_MAX}`, 'in_flight');
}

export function invalid(message: string, field: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}
