import {
  fitsColumn,
  isKnownTrait,
  KNOWN_TRAITS,
  type KnownTrait,
  type Person,
  type Written,
} from './person.ts';
import type { PersonRow, PersonWrite } from './store.ts';

export function fromRow(row: PersonRow): Person {
  const traits = new Map(Object.entries(row.traits));
  for (const key of KNOWN_KEYS) {
    const value = row[KNOWN_TRAITS[key]];
    if (value !== null) traits.set(key, value);
  }
  return {
    projectId: row.project_id,
    userId: row.external_user_id,
    traits,
    email: row.email,
    firstSeenAt: Math.round(row.first_seen_ms),
    lastSeenAt: Math.round(row.last_seen_ms),
    suppressedSeq: row.suppressed_seq,
    normalSeq: row.normal_seq,
    liveSeq: row.live_seq,
    triggersLiveSince: row.triggers_live_ms === null ? null : Math.round(row.triggers_live_ms),
    written: {
      traits: new Map(Object.entries(row.written_seq?.traits ?? {})),
      email: row.written_seq?.email ?? null,
    },
  };
}

const KNOWN_KEYS = Object.keys(KNOWN_TRAITS) as KnownTrait[];

export function toRow(person: Person): PersonWrite {
  const columns = { name: null, plan: null, signup_date: null, company: null, role: null };
  const known: Record<(typeof KNOWN_TRAITS)[KnownTrait], string | null> = columns;
  const others: [string, unknown][] = [];
  for (const [key, value] of person.traits) {
    if (isKnownTrait(key) && fitsColumn(key, value)) known[KNOWN_TRAITS[key]] = value;
    else others.push([key, value]);
  }
  return {
    project_id: person.projectId,
    external_user_id: person.userId,
    ...known,
    traits: JSON.stringify(Object.fromEntries(others)),
    first_seen_at: person.firstSeenAt,
    last_seen_at: person.lastSeenAt,
    suppressed_seq: person.suppressedSeq,
    normal_seq: person.normalSeq,
    live_seq: person.liveSeq,
    triggers_live_since: person.triggersLiveSince,
    written_seq: writtenText(person.written),
  };
}

function writtenText({ traits, email }: Written): string | null {
  if (traits.size === 0 && email === null) return null;
  return JSON.stringify({ traits: Object.fromEntries(traits), email: email ?? undefined });
}
