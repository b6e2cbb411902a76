import { canonicalJson } from '../../../platform/text/canonical-json.ts';
import { sha256 } from '../../../platform/crypto/hash.ts';

/** An event as accepted. */
export type AcceptedEvent = {
  external_user_id: string;
  name: string;
  properties: Record<string, unknown>;
  occurred_at?: string;
  message_id?: string;
  suppress?: true;
  /** An outcome of an email, recorded by Beckon under this id. No other record has one. See `platform/records`. */
  own?: string;
};

/** An event to store, which is not a duplicate. */
export type NewEvent = {
  projectId: number;
  id: string;
  userId: string;
  name: string;
  properties: Record<string, unknown>;
  /** In milliseconds and never later than the time of acceptance. A later time comes from a fast clock and is replaced with that time. */
  occurredAt: number;
  acceptedAt: number;
  seq: number;
  /** Null for Beckon's own events, which move neither half of the watermark. */
  suppressed: boolean | null;
};

const MESSAGE_ID = '01';
const WITH_TIME = '02';
const WITHOUT_TIME = '03';
const HASH_DIGITS = 32;
const HOUR_MS = 3_600_000;

/**
 * Returns the deduplication key in hex, which copies of an event share, or null for an event that is never a copy. It is derived from the
 * message id or, without one, from the whole content. A live event without a time may happen twice.
 *
 * If there is a time, its hour comes before the hash. Copies and neighbors are then close together in the index, which makes inserts
 * several times faster at twenty million rows.
 */
export function dedupeKey(event: AcceptedEvent, priority: 'live' | 'bulk'): string | null {
  // An own event is recorded in the transaction of its outcome, which is written once.
  if (event.own !== undefined) return null;
  if (event.message_id !== undefined) return MESSAGE_ID + digest(event.message_id);
  if (event.occurred_at === undefined && priority === 'live') return null;
  const identity = JSON.stringify([event.external_user_id, event.name, event.occurred_at ?? null]);
  const content = digest(identity + canonicalJson(event.properties));
  if (event.occurred_at === undefined) return WITHOUT_TIME + content;
  const hour = Math.floor(Date.parse(event.occurred_at) / HOUR_MS);
  return WITH_TIME + hour.toString(16).padStart(8, '0') + content;
}

function digest(text: string): string {
  return sha256(text).slice(0, HASH_DIGITS);
}

export type PropertyType = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object';

export function typeOf(value: unknown): PropertyType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as PropertyType;
}
