import type { NthQuery, WindowQuery, SumQuery, WindowSum } from '../../platform/predicate/predicate.ts';
import { propertyTestsSql, sqlParams, windowSumSql } from '../../platform/predicate/sql-values.ts';
import { momentList, plainList, textList } from '../../platform/db/list.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** A query about the events of a user within a time window. */
export type WindowLookup = { projectId: number; userId: string; query: WindowQuery };

export type WindowResults = {
  nth(lookup: { projectId: number; userId: string; query: NthQuery }): number | null;
  sum(lookup: { projectId: number; userId: string; query: SumQuery }): WindowSum;
};

/** A lower bound for the time of a user's last event, known without a query. */
export type Latest = Pick<Map<string, number>, 'get'>;

export function occurrenceKey(projectId: number, userId: string, event: string): string {
  return `${projectId} ${event.length} ${event} ${userId}`;
}

export type WindowOptions = { now: number; latest?: Latest };

/**
 * Runs many queries about many users with few statements:
 *
 * - The nth newest event: all queries about one event of one user share one index probe.
 * - The newest event, if one just arrived: no probe. A newer one may exist, so the next check comes a bit early.
 * - Sums: one statement for all of them.
 * - Queries with a property test: one statement each.
 */
export async function findWindowResults(
  tx: Tx,
  lookups: WindowLookup[],
  options: WindowOptions,
): Promise<WindowResults> {
  const { newest, sums, special } = sort(lookups, options);
  const [found, summed, ...others] = await Promise.all([
    newest.size > 0 ? findNewest(tx, [...newest.values()], options.now) : NOTHING_FOUND,
    sums.length > 0 ? findSums(tx, sums, options.now) : NO_SUMS,
    ...[...special.values()].map((group) => findSpecial(tx, group, options.now)),
  ]);
  const results = new Map(others.flatMap((other) => [...other]));
  return {
    nth({ projectId, userId, query }) {
      const { window, event, nth } = query;
      if (window.where.length > 0) return results.get(lookupKey({ projectId, userId, query }))?.at ?? null;
      const key = occurrenceKey(projectId, userId, event);
      const at = found.get(key)?.[nth - 1] ?? (nth === 1 ? options.latest?.get(key) : undefined);
      return at !== undefined && at > options.now - window.withinMs ? at : null;
    },
    sum(lookup) {
      const key = lookupKey(lookup);
      const result = summed.get(key) ?? results.get(key);
      return result ? { sum: result.sum, oldestAt: result.at } : NO_SUM;
    },
  };
}

const NO_SUM: WindowSum = { sum: 0, oldestAt: null };
const NOTHING_FOUND = new Map<string, number[]>();
const NO_SUMS = new Map<string, Special>();

type SumLookup = WindowLookup & { query: SumQuery };
type Group = { query: WindowQuery; lookups: WindowLookup[] };
type Sorted = { newest: Map<string, Probe>; sums: SumLookup[]; special: Map<string, Group> };

function sort(lookups: WindowLookup[], { now, latest }: WindowOptions): Sorted {
  const sorted: Sorted = { newest: new Map(), sums: [], special: new Map() };
  for (const lookup of lookups) {
    const { query } = lookup;
    if (query.window.where.length > 0) addSpecial(sorted.special, lookup);
    else if (query.kind === 'sum') sorted.sums.push({ ...lookup, query });
    else {
      const key = occurrenceKey(lookup.projectId, lookup.userId, query.event);
      const just = query.nth === 1 && (latest?.get(key) ?? 0) > now - query.window.withinMs;
      if (!just) addProbe(sorted.newest, key, { lookup, query, now });
    }
  }
  return sorted;
}

function addSpecial(special: Map<string, Group>, lookup: WindowLookup): void {
  const group = special.get(lookup.query.key);
  if (group) group.lookups.push(lookup);
  else special.set(lookup.query.key, { query: lookup.query, lookups: [lookup] });
}

function lookupKey({ projectId, userId, query }: WindowLookup): string {
  return `${projectId} ${query.key.length} ${query.key} ${userId}`;
}

type Probe = { key: string; projectId: number; userId: string; event: string; after: number; newest: number };

function addProbe(
  probes: Map<string, Probe>,
  key: string,
  { lookup, query, now }: { lookup: WindowLookup; query: NthQuery; now: number },
): void {
  const { projectId, userId } = lookup;
  const after = now - query.window.withinMs;
  const probe = probes.get(key);
  if (!probe) probes.set(key, { key, projectId, userId, event: query.event, after, newest: query.nth });
  else {
    probe.after = Math.min(probe.after, after);
    probe.newest = Math.max(probe.newest, query.nth);
  }
}

const CLOCKS_APART_MS = 3_600_000;

/**
 * Returns bounds for the receive time. An event is not received before it occurs, apart from clock differences. A single pair of bounds
 * excludes other months once per statement, while bounds per row would be checked for each row.
 */
function receivedBetween(after: number[], now: number): [Date, Date] {
  const first = after.reduce((a, b) => Math.min(a, b), now);
  return [new Date(now + CLOCKS_APART_MS), new Date(first - CLOCKS_APART_MS)];
}

async function findNewest(tx: Tx, probes: Probe[], now: number): Promise<Map<string, number[]>> {
  const rows = await tx.prepared<{ n: number; at: string }>({
    name: 'events.newest',
    text: `SELECT q.n::int AS n, found.at FROM unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[], $5::int[])
             WITH ORDINALITY AS q(project_id, user_id, name, after, newest, n)
           CROSS JOIN LATERAL (
             SELECT array_agg(date_part('epoch', newest.occurred_at))::text AS at FROM (
               SELECT e.occurred_at FROM beckon.event e
               WHERE e.project_id = q.project_id AND e.external_user_id = q.user_id AND e.name = q.name
                 AND e.occurred_at > q.after AND e.received_at >= $7::timestamptz AND e.received_at <= $6::timestamptz
               ORDER BY e.occurred_at DESC LIMIT q.newest
             ) newest
           ) found
           WHERE found.at IS NOT NULL`,
    values: [
      plainList(probes.map((probe) => probe.projectId)),
      textList(probes.map((probe) => probe.userId)),
      textList(probes.map((probe) => probe.event)),
      momentList(probes.map((probe) => probe.after)),
      plainList(probes.map((probe) => probe.newest)),
      ...receivedBetween(
        probes.map((probe) => probe.after),
        now,
      ),
    ],
  });
  const newest = new Map<string, number[]>();
  for (const { n, at } of rows) {
    const probe = probes[n - 1];
    if (probe) newest.set(probe.key, momentsIn(at));
  }
  return newest;
}

/** Sorts the times newest first, because they may be combined from several months. */
function momentsIn(seconds: string): number[] {
  const moments = seconds
    .slice(1, -1)
    .split(',')
    .map((at) => Math.round(Number(at) * 1_000));
  return moments.length === 1 ? moments : moments.sort((a, b) => b - a);
}

/** The result of a query that tests or sums properties: the nth newest event, or the oldest event of a sum. */
type Special = { at: number; sum: number };
type SpecialRow = { n: number; at: number | null; sum: number };

/** The aggregate of the predicate language with the property as a column, so that one statement serves all. */
const SUM_OF_COLUMN = windowSumSql('', {
  params: { values: [], add: () => 'q.property' },
  now: '$6',
  properties: 'e.properties',
}).sum;

async function findSums(tx: Tx, lookups: SumLookup[], now: number): Promise<Map<string, Special>> {
  const after = lookups.map((lookup) => now - lookup.query.window.withinMs);
  const rows = await tx.prepared<SpecialRow>({
    name: 'events.sums',
    text: `SELECT q.n::int AS n, found.at, found.sum FROM unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[], $5::text[])
             WITH ORDINALITY AS q(project_id, user_id, name, after, property, n)
           CROSS JOIN LATERAL (
             SELECT date_part('epoch', min(e.occurred_at)) * 1000 AS at, ${SUM_OF_COLUMN} AS sum FROM beckon.event e
             WHERE e.project_id = q.project_id AND e.external_user_id = q.user_id AND e.name = q.name
               AND e.occurred_at > q.after AND e.received_at >= $7::timestamptz AND e.received_at <= $6::timestamptz
           ) found
           WHERE found.at IS NOT NULL`,
    values: [
      plainList(lookups.map((lookup) => lookup.projectId)),
      textList(lookups.map((lookup) => lookup.userId)),
      textList(lookups.map((lookup) => lookup.query.event)),
      momentList(after),
      textList(lookups.map((lookup) => lookup.query.property)),
      ...receivedBetween(after, now),
    ],
  });
  return byKey(lookups, rows);
}

/** Runs one statement for a query that tests properties, about all its users. */
async function findSpecial(tx: Tx, { query, lookups }: Group, now: number): Promise<Map<string, Special>> {
  const params = sqlParams([
    plainList(lookups.map((lookup) => lookup.projectId)),
    lookups.map((lookup) => lookup.userId),
    query.event,
    new Date(now - query.window.withinMs),
    new Date(now),
  ]);
  const context = { params, now: '$5', properties: 'e.properties' };
  const events = `FROM beckon.event e
    WHERE e.project_id = q.project_id AND e.external_user_id = q.user_id AND e.name = $3::text AND e.occurred_at > $4::timestamptz
      AND e.received_at >= $4::timestamptz - interval '1 hour' AND e.received_at <= $5::timestamptz + interval '1 hour'
      AND (${propertyTestsSql(query.window.where, context)})`;
  const found =
    query.kind === 'nth'
      ? `SELECT date_part('epoch', e.occurred_at) * 1000 AS at, 0::float8 AS sum ${events}
         ORDER BY e.occurred_at DESC OFFSET ${params.add(query.nth)}::int - 1 LIMIT 1`
      : `SELECT date_part('epoch', min(e.occurred_at)) * 1000 AS at, ${windowSumSql(query.property, context).sum} AS sum ${events}`;
  const text = `SELECT q.n::int AS n, found.at, found.sum FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS q(project_id, user_id, n)
    CROSS JOIN LATERAL (${found}) found`;
  // Not a prepared statement, because every form of a test would stay prepared on its connection forever.
  return byKey(lookups, await tx.query<SpecialRow>(text, params.values));
}

function byKey(lookups: WindowLookup[], rows: SpecialRow[]): Map<string, Special> {
  const results = new Map<string, Special>();
  for (const { n, at, sum } of rows) {
    const lookup = lookups[n - 1];
    if (lookup && at !== null) results.set(lookupKey(lookup), { at: Math.round(at), sum });
  }
  return results;
}
