import { compareBytes } from '../../platform/text/byte-order.ts';
import { type Directions, directionsOf, mentionsOf } from '../../platform/predicate/mentions.ts';
import { evaluate } from '../../platform/predicate/evaluate.ts';
import type { Facts, Mentions, Predicate } from '../../platform/predicate/predicate.ts';

/** A current definition of an audience: either the one served or the one being built. */
export type Edition = {
  edition: number;
  audienceId: string;
  name: string;
  state: 'building' | 'served';
  /** While the edition is being built: the last user, in byte order, who is evaluated. Null before the first. */
  builtTo: string | null;
  /** How many users are evaluated so far. */
  built: number;
  predicate: Predicate;
  /** The traits, events and audiences that this definition uses, including those of the audiences that it refers to. */
  mentions: Mentions;
  /** The direction in which an event can change the answer. It is "both" for a change through a referenced audience. */
  directions: Directions;
  /** True if time alone can change its answer, or that of an audience it refers to. */
  timed: boolean;
  /**
   * The editions that answer for the audiences it names, by audience id. A served edition refers to served ones. One being built refers to
   * those being built, because they will be served together.
   */
  references: Map<string, number>;
};

export type EditionSource = Pick<
  Edition,
  'edition' | 'audienceId' | 'name' | 'state' | 'builtTo' | 'built' | 'predicate'
>;

/** A change of a user: the user is new, or these things changed. */
export type Touch = {
  isNew: boolean;
  events: Iterable<string>;
  traits: Iterable<string>;
  email: boolean;
};

/** All current definitions of a project, in the form in which processing evaluates them. */
export type AudienceModel = {
  /** Each edition comes after those that it refers to. */
  editions: Edition[];
  byNumber: Map<number, Edition>;
  /** Returns the edition that readers see: the served one, or the one being built if none is served. */
  editionFor(audienceId: string): Edition | undefined;
  /**
   * Returns the editions that may have another answer now, in the order of `editions`. The cost depends only on what the touch mentions.
   */
  touchedBy(touch: Touch): Edition[];
  /** Editions that hold for a user without any data. A new user can join only these by being new. */
  blankTrue: Edition[];
  /** Events counted without a time window. Their counts must be kept forever. */
  totals: Set<string>;
  /** True if any edition looks at the email address. */
  asksEmail: boolean;
};

export function buildModel(sources: EditionSource[]): AudienceModel {
  const referred = referring(sources);
  const byNumber = new Map<number, Edition>();
  for (const source of inOrder(sources, referred))
    byNumber.set(source.edition, compile(source, referred(source), byNumber));
  const editions = [...byNumber.values()];
  const seen = new Map<string, Edition>();
  for (const edition of editions)
    if (edition.state === 'served' || !seen.has(edition.audienceId)) seen.set(edition.audienceId, edition);
  const blankTrue = holdingForBlank(editions);
  return {
    editions,
    byNumber,
    editionFor: (audienceId) => seen.get(audienceId),
    touchedBy: touchIndex(editions, blankTrue),
    blankTrue,
    totals: new Set(editions.flatMap(({ mentions }) => [...mentions.totals])),
    asksEmail: editions.some(({ mentions }) => mentions.email),
  };
}

/** Returns whether the edition answers for this user. A user beyond `builtTo` is evaluated by the builder when it gets there. */
export function covers(edition: Pick<Edition, 'state' | 'builtTo'>, userId: string): boolean {
  if (edition.state === 'served') return true;
  return edition.builtTo !== null && compareBytes(userId, edition.builtTo) <= 0;
}

type Referred = (source: EditionSource) => EditionSource[];

function referring(sources: EditionSource[]): Referred {
  const of = { building: new Map<string, EditionSource>(), served: new Map<string, EditionSource>() };
  for (const source of sources) of[source.state].set(source.audienceId, source);
  return ({ state, predicate }) => {
    const other = state === 'served' ? 'building' : 'served';
    return [...mentionsOf(predicate).audiences].flatMap((id) => of[state].get(id) ?? of[other].get(id) ?? []);
  };
}

function inOrder(sources: EditionSource[], referred: Referred): EditionSource[] {
  const done = new Map<EditionSource, boolean>();
  const ordered: EditionSource[] = [];
  function visit(source: EditionSource): void {
    const isDone = done.get(source);
    if (isDone) return;
    if (isDone === false) throw new Error(`edition ${source.edition} refers to itself through others`);
    done.set(source, false);
    for (const other of referred(source)) visit(other);
    done.set(source, true);
    ordered.push(source);
  }
  for (const source of sources) visit(source);
  return ordered;
}

function compile(source: EditionSource, referred: EditionSource[], known: Map<number, Edition>): Edition {
  const own = mentionsOf(source.predicate);
  const others = referred.flatMap((other) => known.get(other.edition) ?? []);
  const mentions = others.reduce((all, { mentions: more }) => union(all, more), own);
  return {
    ...source,
    mentions,
    directions: directionsThrough(source.predicate, others),
    timed: mentions.timed,
    references: new Map(others.map(({ audienceId, edition }) => [audienceId, edition])),
  };
}

function directionsThrough(predicate: Predicate, others: Edition[]): Directions {
  const directions = directionsOf(predicate);
  for (const { mentions } of others)
    for (const name of mentions.events) directions.set(name, { way: 'both', notNegative: [] });
  return directions;
}

function union(a: Mentions, b: Mentions): Mentions {
  return {
    traits: a.traits.union(b.traits),
    email: a.email || b.email,
    events: a.events.union(b.events),
    totals: a.totals.union(b.totals),
    questions: new Map([...a.questions, ...b.questions]),
    audiences: a.audiences.union(b.audiences),
    timed: a.timed || b.timed,
  };
}

function holdingForBlank(editions: Edition[]): Edition[] {
  const holding = new Map<number, Edition>();
  const blank: Omit<Facts, 'isMember'> = {
    now: 0,
    email: null,
    trait: () => undefined,
    total: () => undefined,
    nth: () => null,
    sum: () => ({ sum: 0, oldestAt: null }),
  };
  for (const edition of editions) {
    const isMember = (audienceId: string): boolean => holding.has(edition.references.get(audienceId) ?? -1);
    if (evaluate(edition.predicate, { ...blank, isMember }).holds) holding.set(edition.edition, edition);
  }
  return [...holding.values()];
}

/** Maps a mentioned name to the positions of editions, in order. */
type Index = Map<string, number[]>;

function touchIndex(editions: Edition[], blankTrue: Edition[]): (touch: Touch) => Edition[] {
  const byEvent: Index = new Map();
  const byTrait: Index = new Map();
  const byEmail: number[] = [];
  for (const [place, { mentions }] of editions.entries()) {
    for (const name of mentions.events) add(byEvent, name, place);
    for (const key of mentions.traits) add(byTrait, key, place);
    if (mentions.email) byEmail.push(place);
  }
  const places = new Map(editions.map((edition, place) => [edition, place]));
  const forNew = blankTrue.map((edition) => places.get(edition) ?? 0);
  return function touchedBy(touch) {
    const touched = new Set<number>();
    const addAll = (more: number[] = []): void => more.forEach((place) => touched.add(place));
    for (const name of touch.events) addAll(byEvent.get(name));
    for (const key of touch.traits) addAll(byTrait.get(key));
    if (touch.email) addAll(byEmail);
    if (touch.isNew) addAll(forNew);
    return [...touched].sort((a, b) => a - b).flatMap((place) => editions[place] ?? []);
  };
}

function add(index: Index, key: string, place: number): void {
  const known = index.get(key);
  if (known) known.push(place);
  else index.set(key, [place]);
}
