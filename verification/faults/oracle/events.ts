import type { EventRow, Facts } from './facts.ts';
import type { Fate, Sent } from './sent.ts';
import type { Findings } from './verdict.ts';

/**
 * Checks I1 and I2 for events: each accepted event is stored once, and no event of a rejected request is stored. An event that was never
 * sent to this project must not exist (I12). The server's sequence never contradicts what clients saw: a request that was answered before
 * another began comes first.
 */
export function judgeEvents({ rows }: Pick<Facts, 'rows'>, fates: Fate[], findings: Findings): void {
  const placeOf = placesOf(fates);
  const sent = indexSent(fates, placeOf);
  const stored = Map.groupBy(
    rows.events.filter(({ identity }) => identity !== null),
    placeOf,
  );
  for (const [place, known] of sent) judgeOne(place, known, { rows: stored.get(place) ?? [], findings });
  for (const [place, some] of stored)
    if (!sent.has(place)) findings.add('I12', 'an event was never sent to this project', said(some[0]));
  judgeOrder(sent, stored, findings);
}

type SentEvent = Extract<Sent, { kind: 'event' }>;
type Place = { project: string; user: string; name: string; identity: string | null };
type PlaceOf = (of: Place) => string;

/**
 * Identifies events by their content. For copies under one id with different contents the first one cannot be determined. So all events of
 * that name and user are counted together.
 */
function placesOf(fates: Fate[]): PlaceOf {
  const says = new Map<string, string>();
  const blurred = new Set<string>();
  for (const { request, sent } of fates) {
    for (const one of sent) {
      if (one.kind !== 'event' || one.copyOf === null) continue;
      const copy = `${request.project} ${one.copyOf}`;
      const other = says.get(copy);
      if (other === undefined) says.set(copy, one.identity);
      else if (other !== one.identity) blurred.add(`${request.project} ${one.user} ${one.name}`);
    }
  }
  return ({ project, user, name, identity }) => {
    const wide = `${project} ${user} ${name}`;
    return blurred.has(wide) ? wide : `${wide} ${identity ?? ''}`;
  };
}

/** Facts about all events that are indistinguishable. */
type Known = {
  /** How often the event must be stored. */
  expected: number;
  copies: Set<string>;
  accepted: Fate[];
  others: Fate[];
  suppressed: Set<boolean>;
};

function indexSent(fates: Fate[], placeOf: PlaceOf): Map<string, Known> {
  const index = new Map<string, Known>();
  for (const fate of fates) {
    for (const one of fate.sent) {
      if (one.kind !== 'event') continue;
      const place = placeOf({ ...one, project: fate.request.project });
      const known = index.get(place) ?? nothing();
      index.set(place, known);
      note(known, fate, one);
    }
  }
  return index;
}

function nothing(): Known {
  return { expected: 0, copies: new Set(), accepted: [], others: [], suppressed: new Set() };
}

function note(known: Known, fate: Fate, { copyOf, suppressed }: SentEvent): void {
  if (!fate.isAccepted) return void known.others.push(fate);
  known.accepted.push(fate);
  known.suppressed.add(suppressed);
  if (copyOf !== null && known.copies.has(copyOf)) return;
  if (copyOf !== null) known.copies.add(copyOf);
  known.expected += 1;
}

function judgeOne(
  place: string,
  known: Known,
  { rows, findings }: { rows: EventRow[]; findings: Findings },
): void {
  const count = rows.length;
  const { expected, suppressed } = known;
  const evidence = `${place}: ${count} instead of ${expected}; ${names(known)}`;
  if (count < expected) findings.add(...missing(known), evidence);
  else if (count > expected && expected > 0)
    findings.add('I1', 'an event is there more often than it was accepted', evidence);
  else if (count > expected) findings.add(...extra(known), evidence);
  const [isSuppressed] = suppressed;
  if (suppressed.size === 1 && rows.some((row) => row.suppressed !== isSuppressed))
    findings.add('I1', 'an event is suppressed, or is not, against what was sent', said(rows[0]));
}

type Broken = [invariant: string, what: string];

function missing({ accepted }: Known): Broken {
  const wasTold = accepted.some(({ taken }) => taken.length > 0);
  return wasTold
    ? ['I1', 'an event that was acknowledged is not there']
    : ['I2', 'a request whose key was taken is not wholly there'];
}

function extra({ others }: Known): Broken {
  const intents = new Set(others.map(({ request }) => request.intent));
  if (intents.has('clash')) return ['I3', 'a body that came with the key of another has an effect'];
  if (intents.has('revoked')) return ['I11', 'what came with a revoked key has an effect'];
  return ['I2', 'a request that was not accepted has an effect'];
}

type Placed = { request: string; from: number; until: number; first: number; last: number };

/** Checks in the order in which requests began: no request comes before one that was answered before it began. */
function judgeOrder(sent: Map<string, Known>, stored: Map<string, EventRow[]>, findings: Findings): void {
  for (const some of placedOf(sent, stored).values()) {
    const ended = some.filter(({ until }) => until !== Infinity).toSorted((a, b) => a.until - b.until);
    let before: Placed | null = null;
    let next = 0;
    for (const one of some.toSorted((a, b) => a.from - b.from)) {
      for (let other = ended[next]; other && other.until < one.from; other = ended[(next += 1)])
        if (!before || other.last > before.last) before = other;
      if (!before || before.last < one.first) continue;
      const evidence = `${one.request} at ${one.first}, ${before.request} at ${before.last}`;
      findings.add('I1', 'a request came in front of one that was answered before it began', evidence);
    }
  }
}

/** Returns, per project, the requests with the sequences of those events that no other request sent. */
function placedOf(sent: Map<string, Known>, stored: Map<string, EventRow[]>): Map<string, Placed[]> {
  const places = new Map<Fate, Placed>();
  for (const [place, { accepted, others }] of sent) {
    const [fate] = accepted;
    const [row] = stored.get(place) ?? [];
    if (!fate || !row || accepted.length + others.length > 1) continue;
    const { request, from, until } = fate;
    const placed = places.get(fate) ?? { request: request.request, from, until, first: Infinity, last: 0 };
    placed.first = Math.min(placed.first, row.seq);
    placed.last = Math.max(placed.last, row.seq);
    places.set(fate, placed);
  }
  const byProject = Map.groupBy(places, ([{ request }]) => request.project);
  return new Map([...byProject].map(([project, some]) => [project, some.map(([, placed]) => placed)]));
}

function names({ accepted, others }: Known): string {
  const all = [...accepted, ...others].map(({ request }) => `${request.request} (${request.intent})`);
  return [...new Set(all)].slice(0, 3).join(', ');
}

function said(row: EventRow | undefined): string {
  return row ? `project ${row.project}, ${row.user}, ${row.name}, sequence ${row.seq}` : '';
}
