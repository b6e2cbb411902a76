import { recentMap } from './recent-map.ts';

/** Longer than any name there is; what is longer still is not looked up, and is named in part. */
const NAME_MAX = 64;
/** Far more names than the database has, and few enough that invented ones cost no memory. */
const KNOWN_MAX = 4_096;

/** What was typed, and the name it stands for; null where there is no such zone. */
const known = recentMap<{ zone: string | null }>(KNOWN_MAX);

/**
 * The first candidate that names a zone of the IANA database, else the fallback, else UTC. What names none is passed over
 * and told, so that somebody can be warned; what is missing or empty says nothing about a zone and is not worth a warning.
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

/** The traits that name a person's zone, in the order in which they are read. */
export const ZONE_TRAITS = ['timezone', 'time_zone'];

/** The zone that these name by themselves, in the same order; null where none does. */
export function ownZone(candidates: unknown[]): string | null {
  for (const candidate of candidates) {
    const zone = typeof candidate === 'string' ? findZone(candidate) : null;
    if (zone !== null) return zone;
  }
  return null;
}

function findZone(text: string): string | null {
  // Temporal takes offsets too, but a fixed offset is wrong for half of the year in most places.
  if (text.length > NAME_MAX || !/^[A-Za-z]/.test(text)) return null;
  const before = known.get(text);
  if (before) return before.zone;
  const zone = readZone(text);
  known.set(text, { zone });
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
