import { type Directions, directionsOf, mentionsOf } from '../../platform/predicate/mentions.ts';
import { evaluate } from '../../platform/predicate/evaluate.ts';
import type { Facts, Mentions, Predicate } from '../../platform/predicate/predicate.ts';

/** A current definition of an audience: either the one served or the one being built. */
export type AudienceVersion = {
  versionId: number;
  audienceId: string;
  name: string;
  state: 'building' | 'served';
  /** While the version is being built: the last user, in byte order, who is evaluated. Null before the first. */
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
   * The versions that answer for the audiences it names, by audience id. A served version refers to served ones. One being built refers to
   * those being built, because they will be served together.
   */
  references: Map<string, number>;
};

export type AudienceVersionSource = Pick<
  AudienceVersion,
  'versionId' | 'audienceId' | 'name' | 'state' | 'builtTo' | 'built' | 'predicate'
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
  /** Each version comes after those that it refers to. */
  versions: AudienceVersion[];
  byId: Map<number, AudienceVersion>;
  /** Returns the version that readers see: the served one, or the one being built if none is served. */
  versionFor(audienceId: string): AudienceVersion | undefined;
  /**
   * Returns the versions that may have another answer now, in the order of `versions`. The cost depends only on what the touch mentions. The
   * same touch returns the same list, which must not be changed.
   */
  touchedBy(touch: Touch): readonly AudienceVersion[];
  /** Versions that hold for a user without any data. A new user can join only these by being new. */
  blankTrue: AudienceVersion[];
  /** Events counted without a time window. Their counts must be kept forever. */
  totals: Set<string>;
  /** True if any version looks at the email address. */
  usesEmail: boolean;
};

export function buildModel(sources: AudienceVersionSource[]): AudienceModel {
  const referencesOf = referenceLookup(sources);
  const byId = new Map<number, AudienceVersion>();
  for (const source of inOrder(sources, referencesOf))
    byId.set(source.versionId, compile(source, referencesOf(source), byId));
  const versions = [...byId.values()];
  const visible = new Map<string, AudienceVersion>();
  for (const version of versions)
    if (version.state === 'served' || !visible.has(version.audienceId))
      visible.set(version.audienceId, version);
  const blankTrue = matchingForBlank(versions);
  return {
    versions,
    byId,
    versionFor: (audienceId) => visible.get(audienceId),
    touchedBy: touchIndex(versions, blankTrue),
    blankTrue,
    totals: new Set(versions.flatMap(({ mentions }) => [...mentions.totals])),
    usesEmail: versions.some(({ mentions }) => mentions.email),
  };
}

type ReferenceLookup = (source: AudienceVersionSource) => AudienceVersionSource[];

function referenceLookup(sources: AudienceVersionSource[]): ReferenceLookup {
  const byState = {
    building: new Map<string, AudienceVersionSource>(),
    served: new Map<string, AudienceVersionSource>(),
  };
  for (const source of sources) byState[source.state].set(source.audienceId, source);
  return ({ state, predicate }) => {
    const other = state === 'served' ? 'building' : 'served';
    return [...mentionsOf(predicate).audiences].flatMap(
      (id) => byState[state].get(id) ?? byState[other].get(id) ?? [],
    );
  };
}

function inOrder(sources: AudienceVersionSource[], referencesOf: ReferenceLookup): AudienceVersionSource[] {
  const completed = new Map<AudienceVersionSource, boolean>();
  const ordered: AudienceVersionSource[] = [];
  function visit(source: AudienceVersionSource): void {
    const isComplete = completed.get(source);
    if (isComplete) return;
    if (isComplete === false) throw new Error(`version ${source.versionId} refers to itself through others`);
    completed.set(source, false);
    for (const other of referencesOf(source)) visit(other);
    completed.set(source, true);
    ordered.push(source);
  }
  for (const source of sources) visit(source);
  return ordered;
}

function compile(
  source: AudienceVersionSource,
  references: AudienceVersionSource[],
  byNumber: Map<number, AudienceVersion>,
): AudienceVersion {
  const direct = mentionsOf(source.predicate);
  const others = references.flatMap((other) => byNumber.get(other.versionId) ?? []);
  const mentions = others.reduce((all, { mentions: more }) => union(all, more), direct);
  return {
    ...source,
    mentions,
    directions: directionsThrough(source.predicate, others),
    timed: mentions.timed,
    references: new Map(others.map(({ audienceId, versionId }) => [audienceId, versionId])),
  };
}

function directionsThrough(predicate: Predicate, others: AudienceVersion[]): Directions {
  const directions = directionsOf(predicate);
  for (const { mentions } of others)
    for (const name of mentions.events) directions.set(name, { trend: 'both', notNegative: [] });
  return directions;
}

function union(a: Mentions, b: Mentions): Mentions {
  return {
    traits: a.traits.union(b.traits),
    email: a.email || b.email,
    events: a.events.union(b.events),
    totals: a.totals.union(b.totals),
    queries: new Map([...a.queries, ...b.queries]),
    audiences: a.audiences.union(b.audiences),
    timed: a.timed || b.timed,
  };
}

function matchingForBlank(versions: AudienceVersion[]): AudienceVersion[] {
  const matching = new Map<number, AudienceVersion>();
  const blank: Omit<Facts, 'isMember'> = {
    now: 0,
    email: null,
    trait: () => undefined,
    total: () => undefined,
    nth: () => null,
    sum: () => ({ sum: 0, oldestAt: null }),
  };
  for (const version of versions) {
    const isMember = (audienceId: string): boolean => matching.has(version.references.get(audienceId) ?? -1);
    if (evaluate(version.predicate, { ...blank, isMember }).matches) matching.set(version.versionId, version);
  }
  return [...matching.values()];
}

/** Maps a mentioned name to the positions of versions, in order. */
type Index = Map<string, number[]>;

/** The number of different touches whose versions are remembered. Thousands of records have the same few. */
const TOUCHES_MAX = 100;

function touchIndex(
  versions: AudienceVersion[],
  blankTrue: AudienceVersion[],
): (touch: Touch) => readonly AudienceVersion[] {
  const byEvent: Index = new Map();
  const byTrait: Index = new Map();
  const byEmail: number[] = [];
  for (const [position, { mentions }] of versions.entries()) {
    for (const name of mentions.events) add(byEvent, name, position);
    for (const key of mentions.traits) add(byTrait, key, position);
    if (mentions.email) byEmail.push(position);
  }
  const positions = new Map(versions.map((version, position) => [version, position]));
  const forNew = blankTrue.map((version) => positions.get(version) ?? 0);
  const numbers = numberLists([...byEvent.values(), ...byTrait.values(), byEmail, forNew]);
  const known = new Map<string, readonly AudienceVersion[]>();
  return function touchedBy(touch) {
    const lists: number[][] = [];
    let key = '';
    const use = (list: number[] | undefined): void => {
      if (list === undefined || list.length === 0) return;
      lists.push(list);
      key += `${numbers.get(list)} `;
    };
    for (const name of touch.events) use(byEvent.get(name));
    for (const name of touch.traits) use(byTrait.get(name));
    if (touch.email) use(byEmail);
    if (touch.isNew) use(forNew);
    const found = known.get(key);
    if (found) return found;
    const touched = [...new Set(lists.flat())].sort((a, b) => a - b);
    const result = touched.flatMap((position) => versions[position] ?? []);
    if (known.size >= TOUCHES_MAX) known.clear();
    known.set(key, result);
    return result;
  };
}

function numberLists(lists: number[][]): Map<number[], number> {
  return new Map(lists.map((list, number) => [list, number]));
}

function add(index: Index, key: string, position: number): void {
  const positions = index.get(key);
  if (positions) positions.push(position);
  else index.set(key, [position]);
}
