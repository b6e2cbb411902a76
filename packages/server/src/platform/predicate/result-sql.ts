import { mentionsOf } from './mentions.ts';
import {
  boundsOf,
  type EdgeNode,
  type Predicate,
  type SumNode,
  type TimeTest,
  type WindowedCount,
} from './predicate.ts';
import { emailValue, predicateSql, type SqlContext, totalSql, traitValue, windowSql } from './sql.ts';
import { compareSql, spanSql, type SqlValue, windowSumSql } from './sql-values.ts';

/** Expressions over the columns of `level`. `until` is infinity, and not null, if time alone never changes the answer. */
type ResultSql = { matches: string; until: string; level: number };
type ValueNode = Extract<Predicate, { kind: 'trait' | 'user' }>;
type RelativeTest = Extract<TimeTest, { ms: number }>;

const NEVER = `'infinity'::timestamptz`;
const ALWAYS = `'-infinity'::timestamptz`;

/**
 * The equivalent of `evaluate`, including its `until`, for each row of `people`, a relation with the columns of beckon.person. Returns a
 * query with the columns `external_user_id`, `matches` (never null) and `until` (null if time alone never changes the answer).
 *
 * The innermost query reads each fact once. Each query around it combines the results of one more level of groups. OFFSET 0 keeps the
 * planner from merging the levels, because then a fact would be read again wherever its column is used.
 */
export function resultSql(predicate: Predicate, context: SqlContext, people: string): string {
  if (!mentionsOf(predicate).timed)
    return `SELECT p.external_user_id, ${predicateSql(predicate, context)} AS matches, NULL::timestamptz AS until FROM ${people} p`;
  const levels = createLevels();
  const { matches, until } = compile(predicate, { context, levels });
  return `SELECT r.external_user_id, ${matches} AS matches, nullif(${until}, ${NEVER}) AS until FROM (${levels.text(people)}) r`;
}

type Levels = {
  /** Adds a column and returns its name. */
  add(level: number, expression: string): string;
  text(people: string): string;
};
type Scope = { context: SqlContext; levels: Levels };

function createLevels(): Levels {
  const columns: string[][] = [[]];
  let count = 0;
  return {
    add(level, expression) {
      const name = `c${(count += 1)}`;
      (columns[level] ??= []).push(`${expression} AS ${name}`);
      return name;
    },
    text(people) {
      const [facts = [], ...groups] = columns;
      const innermost = `SELECT ${['p.external_user_id', ...facts].join(', ')} FROM ${people} p OFFSET 0`;
      return groups.reduce(
        (inner, group) => `SELECT r.*, ${group.join(', ')} FROM (${inner}) r OFFSET 0`,
        innermost,
      );
    },
  };
}

function compile(predicate: Predicate, scope: Scope): ResultSql {
  if (!mentionsOf(predicate).timed) return untimed(predicate, scope);
  switch (predicate.kind) {
    case 'all':
      return conjunction(
        predicate.of.map((child) => compile(child, scope)),
        scope,
      );
    case 'any':
      return negation(
        conjunction(
          predicate.of.map((child) => negation(compile(child, scope))),
          scope,
        ),
      );
    case 'not':
      return negation(compile(predicate.of, scope));
    case 'trait':
      return textMoment(predicate, traitValue(predicate.trait, scope.context), scope);
    case 'user':
      return textMoment(predicate, emailValue(scope.context), scope);
    case 'count':
      return count(predicate, scope);
    case 'sum':
      return sum(predicate, scope);
    case 'first':
    case 'last':
      return edge(predicate, scope);
    case 'audience':
      return untimed(predicate, scope);
    default:
      return predicate satisfies never;
  }
}

function untimed(predicate: Predicate, { context, levels }: Scope): ResultSql {
  return { matches: levels.add(0, predicateSql(predicate, context)), until: NEVER, level: 1 };
}

/** As in `evaluate`: false lasts at least as long as one false part, true only as long as all parts are true. */
function conjunction(results: ResultSql[], { levels }: Scope): ResultSql {
  const level = Math.max(0, ...results.map((result) => result.level));
  const all = results.map(({ matches }) => matches).join(' AND ');
  const firstEnd = `least(${results.map(({ until }) => until).join(', ')})`;
  const lastFalse = `greatest(${results
    .map(({ matches, until }) => `CASE WHEN ${matches} THEN ${ALWAYS} ELSE ${until} END`)
    .join(', ')})`;
  return {
    matches: levels.add(level, `(${all})`),
    until: levels.add(level, `CASE WHEN ${all} THEN ${firstEnd} ELSE ${lastFalse} END`),
    level: level + 1,
  };
}

function negation({ matches, ...rest }: ResultSql): ResultSql {
  return { ...rest, matches: `(NOT ${matches})` };
}

function textMoment(node: ValueNode, { text }: SqlValue, scope: Scope): ResultSql {
  return 'ms' in node.test ? moment(node.test, `beckon.instant(${text})`, scope) : untimed(node, scope);
}

/** The equivalent of `testMoment`. `at` is null if there is no such moment. */
function moment(test: RelativeTest, at: string, { context, levels }: Scope): ResultSql {
  const column = levels.add(0, at);
  const span = `(${spanSql(test.ms, context.params)})`;
  const [from, to] = edgesOf(test, column, span);
  const now = `${context.now}::timestamptz`;
  return {
    matches: `((${from} <= ${now} AND ${now} < ${to}) IS TRUE)`,
    until: `(CASE WHEN ${now} < ${from} THEN ${from} WHEN ${now} < ${to} THEN ${to} ELSE ${NEVER} END)`,
    level: 1,
  };
}

/** Returns the moments from which on, and until which, the test holds. */
function edgesOf({ op }: RelativeTest, at: string, span: string): [string, string] {
  switch (op) {
    case 'in_last':
      return [at, `(${at} + ${span})`];
    case 'more_than_ago':
      return [`(${at} + ${span})`, NEVER];
    case 'in_next':
      return [`(${at} - ${span})`, at];
    case 'more_than_ahead':
      return [ALWAYS, `(${at} - ${span})`];
    default:
      return op satisfies never;
  }
}

function edge(node: EdgeNode, scope: Scope): ResultSql {
  const { kind, event, test } = node;
  if (!('ms' in test)) return untimed(node, scope);
  const column = kind === 'first' ? 'x.first_at' : 'x.last_at';
  return moment(test, `(SELECT ${column} ${totalSql(event, scope.context)})`, scope);
}

function count(node: Extract<Predicate, { kind: 'count' }>, scope: Scope): ResultSql {
  const { window } = node;
  if (window === null) return untimed(node, scope);
  const { least, beyond } = boundsOf(node);
  const parts: ResultSql[] = [];
  if (least !== null) parts.push(reaches({ ...node, window }, least, scope));
  if (beyond !== null) parts.push(negation(reaches({ ...node, window }, beyond, scope)));
  const [only] = parts;
  if (!only) return { matches: 'true', until: NEVER, level: 0 };
  return parts.length === 1 ? only : conjunction(parts, scope);
}

/** The fact is the time of the nth newest event in the window; it leaves the window at the end of the answer. */
function reaches(node: WindowedCount, nth: number, { context, levels }: Scope): ResultSql {
  const { params } = context;
  const offset = nth === 1 ? '' : ` OFFSET ${params.add(nth - 1)}::bigint`;
  const found = `SELECT x.occurred_at ${windowSql(node, context)} ORDER BY x.occurred_at DESC${offset} LIMIT 1`;
  const at = levels.add(0, `(${found})`);
  return {
    matches: `(${at} IS NOT NULL)`,
    until: `coalesce(${at} + ${spanSql(node.window.withinMs, params)}, ${NEVER})`,
    level: 1,
  };
}

/** One read of the window returns both facts as an array: whether the sum is as required (not null), and the oldest event that counts. */
function sum(node: SumNode, { context, levels }: Scope): ResultSql {
  const { params } = context;
  const total = windowSumSql(node.property, { ...context, properties: 'x.properties' });
  const isReached = compareSql(total.sum, { op: node.compare, than: node.than }, params);
  const facts = `ARRAY[CASE WHEN ${isReached} THEN ${NEVER} END, min(x.occurred_at) FILTER (WHERE ${total.counted})]`;
  const column = levels.add(0, `(SELECT ${facts} ${windowSql(node, context)})`);
  return {
    matches: `(${column}[1] IS NOT NULL)`,
    until: `coalesce(${column}[2] + ${spanSql(node.window.withinMs, params)}, ${NEVER})`,
    level: 1,
  };
}
