import { type NewEvent, typeOf } from './event.ts';
import type { PropertyRow } from './store.ts';

/**
 * A cache of the property types written to the catalog today, so that only new ones cost a write. Each process has its own, and a full one
 * is cleared.
 */
export type KnownProperties = { day: number; seen: Set<string> };

const SEEN_MAX = 50_000;
/** The limit per batch. Further properties come again in a later batch, or are ids used as property names. */
const FRESH_MAX = 2_000;
const DAY_MS = 86_400_000;

export function knownProperties(): KnownProperties {
  return { day: 0, seen: new Set() };
}

/** Returns the rows to write for these events. They count as known after the commit. */
export function propertiesToAdd(
  known: KnownProperties,
  events: NewEvent[],
  now: number,
): { rows: PropertyRow[]; committed(): void } {
  const day = Math.floor(now / DAY_MS);
  if (day !== known.day || known.seen.size > SEEN_MAX) {
    known.day = day;
    known.seen.clear();
  }
  const fresh = new Map<string, PropertyRow>();
  for (const { projectId, name, properties } of events) {
    for (const property of Object.keys(properties)) {
      const type = typeOf(properties[property]);
      // The name may contain any character, so it comes last and the length of the property comes before.
      const key = `${projectId} ${type} ${property.length} ${property} ${name}`;
      if (fresh.size < FRESH_MAX && !known.seen.has(key) && !fresh.has(key))
        fresh.set(key, { project_id: projectId, name, property, type });
    }
  }
  const rows = [...fresh.values()].toSorted(byKey);
  return {
    rows,
    committed() {
      for (const key of fresh.keys()) known.seen.add(key);
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
