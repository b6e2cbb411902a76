import { compareBytes } from '../../base/byte-order.ts';
import {
  type Directions,
  directionsOf,
  evaluate,
  type Facts,
  type Mentions,
  mentionsOf,
  type Predicate,
} from '../../base/predicate/index.ts';

/** One definition of an audience that is asked today: the one that everybody sees, or the one being built. */
export type Edition = {
  edition: number;
  audienceId: string;
  name: string;
  state: 'building' | 'served';
  /** While it is being built: the last person, in the order of bytes, whose answer is known. Null: nobody's is. */
  builtTo: string | null;
  /** So many people are answered so far. */
  built: number;
  predicate: Predicate;
  /** What it looks at, and all that the audiences it refers to look at. */
  mentions: Mentions;
  /** Which way an event can turn its answer; either way, where it does so through an audience that it refers to. */
  directions: Directions;
  /** Whether time alone can change its answer, or that of an audience it refers to. */
  timed: boolean;
  /** The editions that answer for the audiences it names itself. */
  references: number[];
  /** It refers to an audience that is itself not whole yet: until then its people cannot be told. */
  waits: boolean;
};

export type EditionSource = Pick<
  Edition,
  'edition' | 'audienceId' | 'name' | 'state' | 'builtTo' | 'built' | 'predicate'
>;

/** What became different about a person: a new one, or changed in these things. */
export type Touch = {
  isNew: boolean;
  events: Iterable<string>;
  traits: Iterable<string>;
  email: boolean;
};

/** All current definitions of a project, in the form in which the digest asks them. */
export type AudienceModel = {
  /** An edition comes after those that it refers to. */
  editions: Edition[];
  byNumber: Map<number, Edition>;
  /** Which edition answers where an audience is referred to: the served one, or the one being built if none is served. */
  editionFor(audienceId: string): Edition | undefined;
  /** Whose answer may be another now, in the order of `editions`. The cost is that of what they mention. */
  touchedBy(touch: Touch): Edition[];
  /** Those that hold for a person of whom nothing is known: the only ones that a new person is in by being new. */
  blankTrue: Edition[];
  /** Events asked about without a window, whose counts must be kept for ever. */
  totals: Set<string>;
  /** Whether any of them looks at the address. */
  asksEmail: boolean;
};

export function buildModel(sources: EditionSource[]): AudienceModel {
  const answering = new Map<string, EditionSource>();
  for (const source of sources) {
    if (source.state === 'served' || !answering.has(source.audienceId))
      answering.set(source.audienceId, source);
  }
  const byNumber = new Map<number, Edition>();
  for (const source of inOrder(sources, answering))
    byNumber.set(source.edition, compile(source, answering, byNumber));
  const editions = [...byNumber.values()];
  const editionFor = (audienceId: string): Edition | undefined => {
    const source = answering.get(audienceId);
    return source && byNumber.get(source.edition);
  };
  const blankTrue = holdingForBlank(editions, editionFor);
  return {
    editions,
    byNumber,
    editionFor,
    touchedBy: touchIndex(editions, blankTrue),
    blankTrue,
    totals: new Set(editions.flatMap(({ mentions }) => [...mentions.totals])),
    asksEmail: editions.some(({ mentions }) => mentions.email),
  };
}

/** A person beyond what is built is answered by the builder, when it gets there. */
export function covers(edition: Pick<Edition, 'state' | 'builtTo'>, userId: string): boolean {
  if (edition.state === 'served') return true;
  return edition.builtTo !== null && compareBytes(userId, edition.builtTo) <= 0;
}

type Answering = Map<string, EditionSource>;

function referred(source: EditionSource, answering: Answering): EditionSource[] {
  return [...mentionsOf(source.predicate).audiences].flatMap((id) => answering.get(id) ?? []);
}

function inOrder(sources: EditionSource[], answering: Answering): EditionSource[] {
  const done = new Map<EditionSource, boolean>();
  const ordered: EditionSource[] = [];
  function visit(source: EditionSource): void {
    const isDone = done.get(source);
    if (isDone) return;
    if (isDone === false) throw new Error(`edition ${source.edition} refers to itself through others`);
    done.set(source, false);
    for (const other of referred(source, answering)) visit(other);
    done.set(source, true);
    ordered.push(source);
  }
  for (const source of sources) visit(source);
  return ordered;
}

function compile(source: EditionSource, answering: Answering, known: Map<number, Edition>): Edition {
  const own = mentionsOf(source.predicate);
  const others = referred(source, answering).flatMap((other) => known.get(other.edition) ?? []);
  const mentions = others.reduce((all, { mentions: more }) => union(all, more), own);
  return {
    ...source,
    mentions,
    directions: directionsThrough(source.predicate, others),
    timed: mentions.timed,
    references: others.map(({ edition }) => edition),
    waits: source.state === 'building' && others.some(({ state }) => state === 'building'),
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

function holdingForBlank(editions: Edition[], editionFor: AudienceModel['editionFor']): Edition[] {
  const holding = new Set<Edition>();
  const blank: Facts = {
    now: 0,
    email: null,
    trait: () => undefined,
    total: () => undefined,
    nth: () => null,
    sum: () => ({ sum: 0, oldestAt: null }),
    isMember: (audienceId) => {
      const edition = editionFor(audienceId);
      return edition !== undefined && holding.has(edition);
    },
  };
  for (const edition of editions) if (evaluate(edition.predicate, blank).holds) holding.add(edition);
  return [...holding];
}

/** By what is mentioned, to the places of editions in their order. */
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
