import { isDeepStrictEqual } from 'node:util';
import type { EventRow, Facts, PersonRow } from './facts.ts';
import { type Fate, lastWords } from './sent.ts';
import type { Findings } from './verdict.ts';

/**
 * Checks I1 for users: every trait, and the address, has the value that an accepted request set last. The order of two concurrent requests
 * is unknown; if one was answered before the other began, the other is the last. The watermark matches the sequences of the stored events.
 */
export function judgePeople(facts: Pick<Facts, 'rows'>, fates: Fate[], findings: Findings): void {
  const words = gatherWords(fates);
  const marks = marksOf(facts.rows.events);
  const people = new Map(facts.rows.people.map((row) => [placeOf(row), row]));
  for (const [place, said] of words.said) {
    const person = people.get(place);
    if (!person) findings.add('I1', 'a user that was acknowledged is not there', place);
    else judgePerson(person, said, findings);
  }
  for (const [place, person] of people) {
    if (!words.known.has(place)) findings.add('I12', 'a user was never sent to this project', place);
    judgeMark(person, marks.get(place), findings);
  }
}

const placeOf = ({ project, user }: { project: string; user: string }): string => `${project} ${user}`;

type Word = { value: unknown; from: number; until: number; request: string };
type Said = Map<string, Word[]>;
/** A key next to all traits, which no trait can have. */
const EMAIL = ' email';

function gatherWords(fates: Fate[]): { said: Map<string, Said>; known: Set<string> } {
  const said = new Map<string, Said>();
  const known = new Set<string>();
  for (const { request, sent, isAccepted, from, until } of fates) {
    if (!isAccepted) continue;
    const { project, request: name } = request;
    for (const { user } of sent) known.add(placeOf({ project, user }));
    for (const [user, { traits, email }] of lastWords(sent)) {
      const place = placeOf({ project, user });
      const mine = said.get(place) ?? (new Map() as Said);
      said.set(place, mine);
      const word = (key: string, value: unknown): void => {
        const words = mine.get(key);
        const one = { value, from, until, request: name };
        if (words) words.push(one);
        else mine.set(key, [one]);
      };
      for (const [trait, value] of traits) word(trait, value === null ? undefined : value);
      if (email !== undefined) word(EMAIL, email);
    }
  }
  return { said, known };
}

function judgePerson(person: PersonRow, said: Said, findings: Findings): void {
  for (const [key, words] of said) {
    const is = key === EMAIL ? (person.email ?? undefined) : person.traits[key];
    const last = lastOf(words);
    if (last.some(({ value }) => isDeepStrictEqual(value, is))) continue;
    const should = last.slice(0, 3).map(({ value, request }) => `${JSON.stringify(value)} by ${request}`);
    findings.add(
      'I1',
      'a trait is not what was said of it last',
      `${placeOf(person)}: ${key.trim()} is ${JSON.stringify(is)}, said was ${should.join(' or ')}`,
    );
  }
  for (const key of Object.keys(person.traits))
    if (!said.has(key))
      findings.add('I12', 'a trait was never sent to this project', `${placeOf(person)}: ${key}`);
}

/** Returns the values that no other certainly replaced. */
function lastOf(words: Word[]): Word[] {
  const latest = Math.max(...words.map(({ from }) => from));
  return words.filter(({ until }) => until >= latest);
}

type Mark = { suppressed: number; normal: number };

function marksOf(events: EventRow[]): Map<string, Mark> {
  const marks = new Map<string, Mark>();
  for (const event of events) {
    if (event.suppressed === null) continue;
    const mark = marks.get(placeOf(event)) ?? { suppressed: 0, normal: 0 };
    marks.set(placeOf(event), mark);
    if (event.suppressed) mark.suppressed = Math.max(mark.suppressed, event.seq);
    else mark.normal = Math.max(mark.normal, event.seq);
  }
  return marks;
}

function judgeMark(person: PersonRow, mark: Mark | undefined, findings: Findings): void {
  const should = mark !== undefined && mark.suppressed > mark.normal;
  const is = person.suppressedSeq !== null && person.suppressedSeq > (person.normalSeq ?? 0);
  if (is !== should)
    findings.add(
      'I1',
      'a watermark is not that of the order of acceptance',
      `${placeOf(person)}: ${is ? 'suppressed' : 'live'}`,
    );
}
