import { canonicalJson } from '../../platform/text/canonical-json.ts';

/** All variables of an email. */
export type EmailVariables = {
  /** Traits by name, in addition to `external_user_id` and `email`. */
  person: Record<string, unknown>;
  /** Properties by name, in addition to `name` and `occurred_at`. */
  event: Record<string, unknown>;
  project: { name: string };
  /** The end of the subject of the run, such as a trial. */
  run: { ends_at: string | null };
  /** The time zone of dates. */
  zone: string;
  /** The locale of dates and numbers, and of the email around them. */
  locale: string;
};

export type VariableSources = {
  person: { userId: string; traits: ReadonlyMap<string, unknown>; email: string | null };
  anchor: { name: string; properties: Record<string, unknown>; occurredAt: number };
  /** In milliseconds. */
  endsAt: number | null;
  project: { name: string };
  zone: string;
  locale: string;
};

/** The standard `email` and `name` override a trait or property of the same name, so they always mean the same. */
export function variablesFor(sources: VariableSources): EmailVariables {
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

/** Returns the names of facts about the user that changed. The time zone and the locale are facts if a filter used them. */
export function personFactsChanged(facts: Record<string, unknown>, variables: EmailVariables): string[] {
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

/** Returns null if the value is not set. Inherited properties are not values. */
export function valueOf(values: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(values, key) ? (values[key] ?? null) : null;
}

function momentText(ms: number): string {
  return Temporal.Instant.fromEpochMilliseconds(ms).toString();
}
