import { type NewEvent, typeOf } from './event.ts';
import type { PropertyRow } from './store.ts';

/**
 * Which properties of which types were written to the catalogue today, so that only what is new costs anything. A hint:
 * each process has its own, and one that is full begins anew.
 */
export type KnownProperties = { day: number; seen: Set<string> };

const SEEN_MAX = 50_000;
/** Of one batch; what is beyond is met again in a later one, or is somebody's ids as names of properties. */
const FRESH_MAX = 2_000;
const DAY_MS = 86_400_000;

export function knownProperties(): KnownProperties {
  return { day: 0, seen: new Set() };
}

/** What has to be written for these events; it counts as known once that was committed. */
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
      // The name comes last: it alone may hold anything, and both lengths stand before.
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

/** One order for all, so that two batches never wait for each other in a circle. */
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
