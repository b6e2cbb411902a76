import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256 } from '../../base/hash.ts';

/** An event as it was accepted. */
export type AcceptedEvent = {
  external_user_id: string;
  name: string;
  properties: Record<string, unknown>;
  occurred_at?: string;
  message_id?: string;
  suppress?: true;
  /** What became of a letter, told by ourselves under this id. Nobody else's record has one: see `base/records`. */
  own?: string;
};

/** One that is stored: nobody sent it before. */
export type NewEvent = {
  projectId: number;
  id: string;
  userId: string;
  name: string;
  properties: Record<string, unknown>;
  /** Milliseconds. Never later than it was accepted: what a fast clock dates ahead happened when it came. */
  occurredAt: number;
  acceptedAt: number;
  seq: number;
  /** Null of our own, which move neither half of the watermark. */
  suppressed: boolean | null;
};

const MESSAGE_ID = '01';
const WITH_TIME = '02';
const WITHOUT_TIME = '03';
const HASH_DIGITS = 32;
const HOUR_MS = 3_600_000;

/**
 * What two copies of one event have in common, in hex; null for an event that is always one of its own. By its message
 * id or, without one, by everything it says; a live event without a time may well happen twice.
 *
 * Where there is a time its hour stands in front of the hash: copies and neighbours then lie together in the index,
 * which at twenty million rows makes inserts several times faster.
 */
export function dedupeKey(event: AcceptedEvent, priority: 'live' | 'bulk'): string | null {
  // Told in the transaction that wrote the outcome, which is written once.
  if (event.own !== undefined) return null;
  if (event.message_id !== undefined) return MESSAGE_ID + digest(event.message_id);
  if (event.occurred_at === undefined && priority === 'live') return null;
  const said = JSON.stringify([event.external_user_id, event.name, event.occurred_at ?? null]);
  const content = digest(said + canonicalJson(event.properties));
  if (event.occurred_at === undefined) return WITHOUT_TIME + content;
  const hour = Math.floor(Date.parse(event.occurred_at) / HOUR_MS);
  return WITH_TIME + hour.toString(16).padStart(8, '0') + content;
}

function digest(text: string): string {
  return sha256(text).slice(0, HASH_DIGITS);
}

export function occurredAt(event: AcceptedEvent, acceptedAt: number): number {
  return event.occurred_at === undefined ? acceptedAt : Math.min(Date.parse(event.occurred_at), acceptedAt);
}

export type PropertyType = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object';

export function typeOf(value: unknown): PropertyType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as PropertyType;
}
