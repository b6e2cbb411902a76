import { setImmediate } from 'node:timers/promises';
import { type NewEvent, typeOf } from './event.ts';
import {
  addCounts,
  addProperties,
  addVolumes,
  type CountKey,
  type EventCountRow,
  findCounts,
  insertDedupe,
  insertEvents,
  type PropertyRow,
} from './store.ts';
import { sendInSlices } from '../../../platform/db/slices.ts';
import type { Tx } from '../../../platform/db/statements.ts';

/** Claims these keys and returns each that was not claimed before, once. */
export async function claimDedupe<T extends { projectId: number; key: string }>(
  tx: Tx,
  claims: T[],
): Promise<Set<T>> {
  if (claims.length === 0) return new Set();
  const won = await insertDedupe(
    tx,
    claims.map(({ projectId, key }) => ({ project_id: projectId, dedupe_key: key })),
  );
  if (won === null) return new Set(claims);
  const names = new Set(won);
  return new Set(claims.filter(({ projectId, key }) => names.has(`${projectId} ${key}`)));
}

/**
 * Stores events and updates the event catalog. `receivedAt` is the time of their processing. Resolves when the events are sent, so that
 * statements sent afterwards see them; `stored` settles when they are written.
 */
export async function storeEvents(
  tx: Tx,
  events: NewEvent[],
  { receivedAt, propertyCache }: { receivedAt: Date; propertyCache: PropertyCache },
): Promise<{ stored: Promise<{ committed(): void }> }> {
  const properties = propertiesToAdd(propertyCache, events, receivedAt.getTime());
  const { written } = await sendInSlices(
    events.values().map(toRow),
    (slice) => insertEvents(tx, slice, receivedAt),
    { bytesOf: (row) => row.properties.length, pause: setImmediate },
  );
  const stored = Promise.all([
    written,
    addVolumes(tx, volumesOf(events), receivedAt),
    properties.rows.length > 0
      ? addProperties(tx, properties.rows, { at: receivedAt, ofName: PROPERTIES_OF_NAME_MAX })
      : undefined,
  ]);
  return { stored: stored.then(() => properties) };
}

/** The maximum number of properties stored per event name. */
const PROPERTIES_OF_NAME_MAX = 500;

function toRow(event: NewEvent): Parameters<typeof insertEvents>[1][number] {
  return {
    project_id: event.projectId,
    id: event.id,
    external_user_id: event.userId,
    name: event.name,
    properties: JSON.stringify(event.properties),
    occurred_at: event.occurredAt,
    accepted_at: event.acceptedAt,
    seq: event.seq,
    suppressed: event.suppressed,
  };
}

function volumesOf(events: NewEvent[]): { project_id: number; name: string; count: number }[] {
  const counts = new Map<string, { project_id: number; name: string; count: number }>();
  for (const { projectId, name } of events) {
    const key = `${projectId} ${name}`;
    const counted = counts.get(key);
    if (counted) counted.count += 1;
    else counts.set(key, { project_id: projectId, name, count: 1 });
  }
  return [...counts.values()].toSorted((a, b) => a.project_id - b.project_id || (a.name < b.name ? -1 : 1));
}

/** All occurrences of one event of one user. */
export type Total = {
  projectId: number;
  userId: string;
  name: string;
  count: number;
  firstAt: number;
  lastAt: number;
};

/** Adds these events, which all have counted names, and returns the new totals of their users. */
export async function countEvents(tx: Tx, events: NewEvent[]): Promise<Total[]> {
  const rows = new Map<string, EventCountRow>();
  for (const event of events) {
    const at = event.occurredAt;
    const key = JSON.stringify([event.projectId, event.userId, event.name]);
    const row = rows.get(key);
    if (!row) {
      const { projectId, userId, name } = event;
      rows.set(key, {
        project_id: projectId,
        external_user_id: userId,
        name,
        count: 1,
        first_ms: at,
        last_ms: at,
      });
      continue;
    }
    row.count += 1;
    row.first_ms = Math.min(row.first_ms, at);
    row.last_ms = Math.max(row.last_ms, at);
  }
  return (await addCounts(tx, [...rows.values()])).map(toTotal);
}

export async function findTotals(
  tx: Tx,
  lookups: Pick<Total, 'projectId' | 'userId' | 'name'>[],
): Promise<Total[]> {
  if (lookups.length === 0) return [];
  const keys = lookups.map(({ projectId, userId, name }): CountKey => ({
    project_id: projectId,
    external_user_id: userId,
    name,
  }));
  return (await findCounts(tx, keys)).map(toTotal);
}

function toTotal(row: EventCountRow): Total {
  return {
    projectId: row.project_id,
    userId: row.external_user_id,
    name: row.name,
    count: row.count,
    firstAt: Math.round(row.first_ms),
    lastAt: Math.round(row.last_ms),
  };
}

/**
 * A cache of the property types written to the catalog today, so that only new ones cost a write. Each process has its own, and a full one
 * is cleared.
 */
export type PropertyCache = { day: number; seen: Set<string> };

const SEEN_MAX = 50_000;
/** The limit per batch. Further properties come again in a later batch, or are ids used as property names. */
const FRESH_MAX = 2_000;
const DAY_MS = 86_400_000;

/** Returns the rows to write for these events. They count as known after the commit. */
function propertiesToAdd(
  cache: PropertyCache,
  events: NewEvent[],
  now: number,
): { rows: PropertyRow[]; committed(): void } {
  const day = Math.floor(now / DAY_MS);
  if (day !== cache.day || cache.seen.size > SEEN_MAX) {
    cache.day = day;
    cache.seen.clear();
  }
  const fresh = new Map<string, PropertyRow>();
  for (const { projectId, name, properties } of events) {
    for (const property of Object.keys(properties)) {
      const type = typeOf(properties[property]);
      // The name may contain any character, so it comes last and the length of the property comes before.
      const key = `${projectId} ${type} ${property.length} ${property} ${name}`;
      if (fresh.size < FRESH_MAX && !cache.seen.has(key) && !fresh.has(key))
        fresh.set(key, { project_id: projectId, name, property, type });
    }
  }
  const rows = [...fresh.values()].toSorted(byKey);
  return {
    rows,
    committed() {
      for (const key of fresh.keys()) cache.seen.add(key);
    },
  };
}

/** A single order for all writers, which avoids deadlocks between batches. */
function byKey(a: PropertyRow, b: PropertyRow): number {
  return (
    a.project_id - b.project_id ||
    compare(a.name, b.name) ||
    compare(a.property, b.property) ||
    compare(a.type, b.type)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
