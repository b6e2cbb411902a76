import { listAll } from '../features/events/index.ts';
import {
  isStorable,
  listBuried,
  listNoted,
  type PersonId,
  showPerson,
  type ShownPerson,
  unknownPerson,
} from '../features/people/index.ts';
import type { Tx } from '../io/db/index.ts';
import { listAudiencesOf, toShownEvent } from './show-person.ts';

/** With the largest records there may be, a page is some ten megabytes. */
const PAGE = 200;

/**
 * Everything that is kept about a person, as pieces of text that are one JSON value together, and still are with white
 * space between them. The same as is shown of them, but with all events (by name, and within a name by time), all that the
 * stream noted, and the records that could not be applied. Nothing is held in memory but a page.
 *
 * Somebody of whom there is nothing but records that could not be applied has no e-mail, no traits and no times.
 */
export async function* exportPerson(
  tx: Tx,
  { projectId, userId }: PersonId,
): AsyncGenerator<string, void, void> {
  const wanted = { projectId, userId, pageOf: PAGE };
  const person = await showPerson(tx, wanted);
  if (!person && !(await hasBuried(tx, { projectId, userId }))) throw unknownPerson(userId);
  const known = JSON.stringify({
    ...(person ?? nobody(userId)),
    audiences: await listAudiencesOf(tx, wanted),
  });
  yield `${known.slice(0, -1)},`;
  yield* field('events', listAll(tx, wanted), toShownEvent);
  yield ',"drafts":[],"decisions":[],';
  yield* field('changes', listNoted(tx, wanted), (noted) => noted);
  yield ',';
  yield* field('dead_letters', listBuried(tx, wanted), (buried) => buried);
  yield '}';
}

async function* field<T>(
  name: string,
  pages: AsyncGenerator<T[], void, void>,
  shown: (row: T) => unknown,
): AsyncGenerator<string, void, void> {
  yield `${JSON.stringify(name)}:[`;
  let isFirst = true;
  for await (const page of pages) {
    if (page.length === 0) continue;
    const rows = page.map((row) => JSON.stringify(shown(row))).join(',\n');
    yield isFirst ? rows : `,${rows}`;
    isFirst = false;
  }
  yield ']';
}

async function hasBuried(tx: Tx, person: PersonId): Promise<boolean> {
  if (!isStorable(person.userId)) return false;
  for await (const page of listBuried(tx, { ...person, pageOf: 1 })) return page.length > 0;
  return false;
}

function nobody(userId: string): Record<keyof ShownPerson, unknown> {
  return {
    external_user_id: userId,
    email: null,
    traits: {},
    suppressTriggersUntil: null,
    triggersLiveSince: null,
    first_seen_at: null,
    last_seen_at: null,
  };
}
