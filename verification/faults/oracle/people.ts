import { isDeepStrictEqual } from 'node:util';
import type { EventRow, Facts, PersonRow } from './facts.ts';
import { type RequestResult, lastValues } from './request-results.ts';
import type { Findings } from './findings.ts';

/**
 * Checks I1 for users: every trait, and the address, has the value that an accepted request set last. The order of two concurrent requests
 * is unknown; if one was answered before the other began, the other is the last. The watermark matches the sequences of the stored events.
 */
export function checkPeople(facts: Pick<Facts, 'rows'>, results: RequestResult[], findings: Findings): void {
  const sentValues = collectValues(results);
  const watermarks = watermarksOf(facts.rows.events);
  const people = new Map(facts.rows.people.map((row) => [userKeyOf(row), row]));
  for (const [userKey, userValues] of sentValues.byUser) {
    const person = people.get(userKey);
    if (!person) findings.add('I1', 'an acknowledged user is missing', userKey);
    else checkPerson(person, userValues, findings);
  }
  for (const [userKey, person] of people) {
    if (!sentValues.knownUsers.has(userKey))
      findings.add('I12', 'a user was never sent to this project', userKey);
    checkWatermark(person, watermarks.get(userKey), findings);
  }
}

const userKeyOf = ({ project, user }: { project: string; user: string }): string => `${project} ${user}`;

type TraitValue = { value: unknown; from: number; until: number; request: string };
type UserValues = Map<string, TraitValue[]>;
/** A key next to all traits, which no trait can have. */
const EMAIL = ' email';

function collectValues(results: RequestResult[]): {
  byUser: Map<string, UserValues>;
  knownUsers: Set<string>;
} {
  const byUser = new Map<string, UserValues>();
  const knownUsers = new Set<string>();
  for (const { request, records, isAccepted, from, until } of results) {
    if (!isAccepted) continue;
    const { project, request: name } = request;
    for (const { user } of records) knownUsers.add(userKeyOf({ project, user }));
    for (const [user, { traits, email }] of lastValues(records)) {
      const userKey = userKeyOf({ project, user });
      const userValues = byUser.get(userKey) ?? (new Map() as UserValues);
      byUser.set(userKey, userValues);
      const addValue = (key: string, value: unknown): void => {
        const values = userValues.get(key);
        const entry = { value, from, until, request: name };
        if (values) values.push(entry);
        else userValues.set(key, [entry]);
      };
      for (const [trait, value] of traits) addValue(trait, value === null ? undefined : value);
      if (email !== undefined) addValue(EMAIL, email);
    }
  }
  return { byUser, knownUsers };
}

function checkPerson(person: PersonRow, userValues: UserValues, findings: Findings): void {
  for (const [key, values] of userValues) {
    const actual = key === EMAIL ? (person.email ?? undefined) : person.traits[key];
    const last = latestValues(values);
    if (last.some(({ value }) => isDeepStrictEqual(value, actual))) continue;
    const expected = last.slice(0, 3).map(({ value, request }) => `${JSON.stringify(value)} by ${request}`);
    findings.add(
      'I1',
      'a trait does not have its latest value',
      `${userKeyOf(person)}: ${key.trim()} is ${JSON.stringify(actual)}, expected ${expected.join(' or ')}`,
    );
  }
  for (const key of Object.keys(person.traits))
    if (!userValues.has(key))
      findings.add('I12', 'a trait was never sent to this project', `${userKeyOf(person)}: ${key}`);
}

/** Returns the values that no other certainly replaced. */
function latestValues(values: TraitValue[]): TraitValue[] {
  const latest = Math.max(...values.map(({ from }) => from));
  return values.filter(({ until }) => until >= latest);
}

type Watermark = { suppressed: number; normal: number };

function watermarksOf(events: EventRow[]): Map<string, Watermark> {
  const watermarks = new Map<string, Watermark>();
  for (const event of events) {
    if (event.suppressed === null) continue;
    const watermark = watermarks.get(userKeyOf(event)) ?? { suppressed: 0, normal: 0 };
    watermarks.set(userKeyOf(event), watermark);
    if (event.suppressed) watermark.suppressed = Math.max(watermark.suppressed, event.seq);
    else watermark.normal = Math.max(watermark.normal, event.seq);
  }
  return watermarks;
}

function checkWatermark(person: PersonRow, watermark: Watermark | undefined, findings: Findings): void {
  const shouldBeSuppressed = watermark !== undefined && watermark.suppressed > watermark.normal;
  const isSuppressed = person.suppressedSeq !== null && person.suppressedSeq > (person.normalSeq ?? 0);
  if (isSuppressed !== shouldBeSuppressed)
    findings.add(
      'I1',
      'a watermark contradicts the order of acceptance',
      `${userKeyOf(person)}: ${isSuppressed ? 'suppressed' : 'live'}`,
    );
}
