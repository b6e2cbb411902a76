import { canonicalJson } from '../../base/canonical-json.ts';

/** All that a letter may speak of. */
export type LetterVariables = {
  /** Traits under their own names, beside `external_user_id` and `email`. */
  person: Record<string, unknown>;
  /** Properties under their own names, beside `name` and `occurred_at`. */
  event: Record<string, unknown>;
  project: { name: string };
  /** The end of what the letter is about, such as a trial. */
  run: { ends_at: string | null };
  /** The time zone of dates. */
  zone: string;
  /** The locale of dates and numbers, and of the email around them. */
  locale: string;
};

export type VariableSources = {
  person: { userId: string; traits: ReadonlyMap<string, unknown>; email: string | null };
  anchor: { name: string; properties: Record<string, unknown>; occurredAt: number };
  /** Milliseconds. */
  endsAt: number | null;
  project: { name: string };
  zone: string;
  locale: string;
};

/** A trait called `email` or a property called `name` gives way to ours, which are always what they say. */
export function variablesFor(sources: VariableSources): LetterVariables {
  const { person, anchor, endsAt, project, zone, locale } = sources;
  return {
    person: { ...Object.fromEntries(person.traits), external_user_id: person.userId, email: person.email },
    event: { ...anchor.properties, name: anchor.name, occurred_at: momentText(anchor.occurredAt) },
    project: { name: project.name },
    run: { ends_at: endsAt === null ? null : momentText(endsAt) },
    zone,
    locale,
  };
}

/** The names of facts about the person that changed. The time zone and the locale are facts where a filter used them. */
export function personFactsChanged(facts: Record<string, unknown>, variables: LetterVariables): string[] {
  return Object.keys(facts).filter((name) => {
    if (name === ZONE_FACT) return facts[name] !== variables.zone;
    if (name === LOCALE_FACT) return facts[name] !== variables.locale;
    if (!name.startsWith(PERSON)) return false;
    return canonicalJson(facts[name]) !== canonicalJson(valueOf(variables.person, name.slice(PERSON.length)));
  });
}

export const ZONE_FACT = 'zone';
export const LOCALE_FACT = 'locale';
const PERSON = 'user.';

/** Null where it is not set; what every object inherits is no value of anybody. */
export function valueOf(values: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(values, key) ? (values[key] ?? null) : null;
}

function momentText(ms: number): string {
  return Temporal.Instant.fromEpochMilliseconds(ms).toString();
}
