import type { EventRow, Facts } from './facts.ts';
import type { RequestResult, SentRecord } from './request-results.ts';
import type { Findings } from './findings.ts';

/**
 * Checks I1 and I2 for events: each accepted event is stored once, and no event of a rejected request is stored. An event that was never
 * sent to this project must not exist (I12). The server's sequence never contradicts what clients saw: a request that was answered before
 * another began comes first.
 */
export function checkEvents(
  { rows }: Pick<Facts, 'rows'>,
  results: RequestResult[],
  findings: Findings,
): void {
  const eventKeyOf = eventKeys(results);
  const sent = indexSent(results, eventKeyOf);
  const stored = Map.groupBy(
    rows.events.filter(({ identity }) => identity !== null),
    eventKeyOf,
  );
  for (const [eventKey, eventFacts] of sent)
    checkEvent(eventKey, eventFacts, { rows: stored.get(eventKey) ?? [], findings });
  for (const [eventKey, eventRows] of stored)
    if (!sent.has(eventKey))
      findings.add('I12', 'an event was never sent to this project', describeEvent(eventRows[0]));
  checkOrder(sent, stored, findings);
}

type SentEvent = Extract<SentRecord, { kind: 'event' }>;
type EventKey = { project: string; user: string; name: string; identity: string | null };
type EventKeyOf = (event: EventKey) => string;

/**
 * Identifies events by their content. For copies under one id with different contents the first one cannot be determined. So all events of
 * that name and user are counted together.
 */
function eventKeys(results: RequestResult[]): EventKeyOf {
  const identities = new Map<string, string>();
  const ambiguous = new Set<string>();
  for (const { request, records } of results) {
    for (const record of records) {
      if (record.kind !== 'event' || record.duplicateKey === null) continue;
      const copy = `${request.project} ${record.duplicateKey}`;
      const other = identities.get(copy);
      if (other === undefined) identities.set(copy, record.identity);
      else if (other !== record.identity) ambiguous.add(`${request.project} ${record.user} ${record.name}`);
    }
  }
  return ({ project, user, name, identity }) => {
    const group = `${project} ${user} ${name}`;
    return ambiguous.has(group) ? group : `${group} ${identity ?? ''}`;
  };
}

/** Facts about all events that are indistinguishable. */
type EventFacts = {
  /** How often the event must be stored. */
  expected: number;
  copies: Set<string>;
  accepted: RequestResult[];
  others: RequestResult[];
  suppressed: Set<boolean>;
};

function indexSent(results: RequestResult[], eventKeyOf: EventKeyOf): Map<string, EventFacts> {
  const index = new Map<string, EventFacts>();
  for (const result of results) {
    for (const record of result.records) {
      if (record.kind !== 'event') continue;
      const eventKey = eventKeyOf({ ...record, project: result.request.project });
      const eventFacts = index.get(eventKey) ?? noFacts();
      index.set(eventKey, eventFacts);
      addRecord(eventFacts, result, record);
    }
  }
  return index;
}

function noFacts(): EventFacts {
  return { expected: 0, copies: new Set(), accepted: [], others: [], suppressed: new Set() };
}

function addRecord(
  eventFacts: EventFacts,
  result: RequestResult,
  { duplicateKey, suppressed }: SentEvent,
): void {
  if (!result.isAccepted) return void eventFacts.others.push(result);
  eventFacts.accepted.push(result);
  eventFacts.suppressed.add(suppressed);
  if (duplicateKey !== null && eventFacts.copies.has(duplicateKey)) return;
  if (duplicateKey !== null) eventFacts.copies.add(duplicateKey);
  eventFacts.expected += 1;
}

function checkEvent(
  eventKey: string,
  eventFacts: EventFacts,
  { rows, findings }: { rows: EventRow[]; findings: Findings },
): void {
  const count = rows.length;
  const { expected, suppressed } = eventFacts;
  const evidence = `${eventKey}: ${count} instead of ${expected}; ${names(eventFacts)}`;
  if (count < expected) findings.add(...missing(eventFacts), evidence);
  else if (count > expected && expected > 0)
    findings.add('I1', 'an event is stored more often than it was accepted', evidence);
  else if (count > expected) findings.add(...extra(eventFacts), evidence);
  const [isSuppressed] = suppressed;
  if (suppressed.size === 1 && rows.some((row) => row.suppressed !== isSuppressed))
    findings.add('I1', 'the suppression of an event does not match the request', describeEvent(rows[0]));
}

type InvariantProblem = [invariant: string, what: string];

function missing({ accepted }: EventFacts): InvariantProblem {
  const wasAcknowledged = accepted.some(({ acceptances }) => acceptances.length > 0);
  return wasAcknowledged
    ? ['I1', 'an acknowledged event is missing']
    : ['I2', 'a request whose key is stored is incomplete'];
}

function extra({ others }: EventFacts): InvariantProblem {
  const intents = new Set(others.map(({ request }) => request.intent));
  if (intents.has('clash')) return ['I3', 'a body sent with the key of another request has an effect'];
  if (intents.has('revoked')) return ['I11', 'a request with a revoked key has an effect'];
  return ['I2', 'a request that was not accepted has an effect'];
}

type SequencedRequest = { request: string; from: number; until: number; first: number; last: number };

/** Checks in the order in which requests began: no request comes before one that was answered before it began. */
function checkOrder(
  sent: Map<string, EventFacts>,
  stored: Map<string, EventRow[]>,
  findings: Findings,
): void {
  for (const requests of sequencedRequests(sent, stored).values()) {
    const ended = requests.filter(({ until }) => until !== Infinity).toSorted((a, b) => a.until - b.until);
    let latest: SequencedRequest | null = null;
    let next = 0;
    for (const request of requests.toSorted((a, b) => a.from - b.from)) {
      for (let other = ended[next]; other && other.until < request.from; other = ended[(next += 1)])
        if (!latest || other.last > latest.last) latest = other;
      if (!latest || latest.last < request.first) continue;
      const evidence = `${request.request} at ${request.first}, ${latest.request} at ${latest.last}`;
      findings.add('I1', 'a request precedes one that was answered before it began', evidence);
    }
  }
}

/** Returns, per project, the requests with the sequences of those events that no other request sent. */
function sequencedRequests(
  sent: Map<string, EventFacts>,
  stored: Map<string, EventRow[]>,
): Map<string, SequencedRequest[]> {
  const byResult = new Map<RequestResult, SequencedRequest>();
  for (const [eventKey, { accepted, others }] of sent) {
    const [result] = accepted;
    const [row] = stored.get(eventKey) ?? [];
    if (!result || !row || accepted.length + others.length > 1) continue;
    const { request, from, until } = result;
    const sequenced = byResult.get(result) ?? {
      request: request.request,
      from,
      until,
      first: Infinity,
      last: 0,
    };
    sequenced.first = Math.min(sequenced.first, row.seq);
    sequenced.last = Math.max(sequenced.last, row.seq);
    byResult.set(result, sequenced);
  }
  const byProject = Map.groupBy(byResult, ([{ request }]) => request.project);
  return new Map(
    [...byProject].map(([project, entries]) => [project, entries.map(([, sequenced]) => sequenced)]),
  );
}

function names({ accepted, others }: EventFacts): string {
  const all = [...accepted, ...others].map(({ request }) => `${request.request} (${request.intent})`);
  return [...new Set(all)].slice(0, 3).join(', ');
}

function describeEvent(row: EventRow | undefined): string {
  return row ? `project ${row.project}, ${row.user}, ${row.name}, sequence ${row.seq}` : '';
}
