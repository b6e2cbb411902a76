import { WEBHOOK_TYPES, type WebhookType } from '@beckon/contract';
import { Fault } from '../../../platform/fault.ts';

/** Why an endpoint is disabled: by a member, after a 410 response, after days without a success, or during its deletion. */
export type DisabledReason = 'manual' | 'gone' | 'failing' | 'deleted';

/** A URL of a customer that receives the outcomes of a project's emails. */
export type Endpoint = {
  projectId: number;
  id: string;
  url: string;
  /** Null means all current and future types. */
  types: WebhookType[] | null;
  description: string;
  createdAt: number;
  disabledAt: number | null;
  disabledReason: DisabledReason | null;
  /** The maximum numbers of requests per second and of concurrent requests. */
  perSecond: number;
  inFlightMax: number;
};

/** The rules for the URLs of webhook endpoints, and the `User-Agent` of webhook deliveries. */
export type WebhookSettings = { allowPrivate: boolean; agent: string };

export type EndpointRef = { projectId: number; endpointId: string };

export const ENDPOINTS_MAX = 10;
export const PER_SECOND_DEFAULT = 50;
const PER_SECOND_MIN = 0.1;
const PER_SECOND_MAX = 10_000;
export const IN_FLIGHT_DEFAULT = 10;
/** The HTTP client's limit of connections per host. */
const IN_FLIGHT_MAX = 200;
const DESCRIPTION_MAX = 200;

/** Null means all types. */
export function readTypes(types: string[] | null): WebhookType[] | null {
  if (types === null) return null;
  const knownTypes = WEBHOOK_TYPES as readonly string[];
  const strange = types.find((type) => !knownTypes.includes(type));
  if (strange !== undefined)
    throw invalid(`${JSON.stringify(strange)} is not an event type. Use ${knownTypes.join(', ')}`, 'types');
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
