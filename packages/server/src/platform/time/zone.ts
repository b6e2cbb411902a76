import { recentMap } from '../async/recent-map.ts';

/** Longer than any zone name. A longer text is not looked up, and is shown truncated. */
const NAME_MAX = 64;
/** Far more names than the database has, and few enough that invented ones take little memory. */
const CACHE_MAX = 4_096;

/** The zone of an input; null if there is no such zone. */
const zoneCache = recentMap<{ zone: string | null }>(CACHE_MAX);

/**
 * Returns the first candidate that names a zone of the IANA database, else the fallback, else UTC. Invalid candidates are skipped and
 * returned, so that the caller can show a warning. Missing and empty candidates need no warning.
 */
export function zoneOf(candidates: unknown[], fallback: string): { zone: string; invalid: string[] } {
  const invalid: string[] = [];
  for (const candidate of [...candidates, fallback]) {
    if (candidate === undefined || candidate === null || candidate === '') continue;
    const zone = typeof candidate === 'string' ? findZone(candidate) : null;
    if (zone !== null) return { zone, invalid };
    invalid.push(nameOf(candidate));
  }
  return { zone: 'UTC', invalid };
}

/** The traits that name a user's zone, in the order in which they are read. */
export const ZONE_TRAITS = ['timezone', 'time_zone'];

/** Returns the zone that the candidates name, in the same order; null if none does. */
export function namedZone(candidates: unknown[]): string | null {
  for (const candidate of candidates) {
    const zone = typeof candidate === 'string' ? findZone(candidate) : null;
    if (zone !== null) return zone;
  }
  return null;
}

function findZone(text: string): string | null {
  // Temporal accepts offsets too, but a fixed offset is wrong for half of the year in most places.
  if (text.length > NAME_MAX || !/^[A-Za-z]/.test(text)) return null;
  const before = zoneCache.get(text);
  if (before) return before.zone;
  const zone = readZone(text);
  zoneCache.set(text, { zone });
  return zone;
}

function readZone(text: string): string | null {
  try {
    return new Temporal.ZonedDateTime(0n, text).timeZoneId;
  } catch {
    return null;
  }
}

function nameOf(candidate: unknown): string {
  const text = typeof candidate === 'string' ? candidate : JSON.stringify(candidate);
  return text.length > NAME_MAX ? `${text.slice(0, NAME_MAX)}…` : text;
}
