import { boundsOf, type CountNode, type Predicate, type SumNode, type WindowedCount } from './predicate.ts';
import {
  compareSql,
  jsonValue,
  momentTestSql,
  propertyTestsSql,
  spanSql,
  type SqlValue,
  type TestContext,
  valueTestSql,
  windowSumSql,
} from './sql-values.ts';

/** The evaluated row is `p` of beckon.person; `projectId` and `now` are placeholders such as `$1`. */
export type SqlContext = TestContext & {
  projectId: string;
  /** Returns the version of an audience; null if it has none, and so no members. */
  versionId(audienceId: string): number | null;
};

/** The equivalent of `evaluate` for all users of a project at once: true or false, never null. */
export function predicateSql(predicate: Predicate, context: SqlContext): string {
  switch (predicate.kind) {
    case 'all':
      return `(${predicate.of.map((child) => predicateSql(child, context)).join(' AND ')})`;
    case 'any':
      return `(${predicate.of.map((child) => predicateSql(child, context)).join(' OR ')})`;
    case 'not':
      return `(NOT ${predicateSql(predicate.of, context)})`;
    case 'trait':
      return valueTestSql(predicate.test, traitValue(predicate.trait, context), context);
    case 'user':
      return valueTestSql(predicate.test, emailValue(context), context);
    case 'count':
      return countSql(predicate, context);
    case 'sum':
      return sumSql(predicate, context);
    case 'first':
    case 'last': {
      const column = predicate.kind === 'first' ? 'x.first_at' : 'x.last_at';
      return existsSql(
        `${totalSql(predicate.event, context)} AND ${momentTestSql(predicate.test, column, context)}`,
      );
    }
    case 'audience':
      return membershipSql(predicate.audienceId, context);
    default:
      return predicate satisfies never;
  }
}

/**
 * Texts under these keys are stored in columns, except a signupDate that is not a moment. All other values under them are among the other
 * traits.
 */
const COLUMNS = new Map([
  ['name', 'p.name'],
  ['plan', 'p.plan'],
  ['signupDate', 'p.signup_date'],
  ['company', 'p.company'],
  ['role', 'p.role'],
]);

export function traitValue(trait: string, { params }: SqlContext): SqlValue {
  const column = COLUMNS.get(trait);
  if (column === undefined) return jsonValue(`(p.traits -> ${params.add(trait)}::text)`);
  // The trait is one of the literals above, and not a parameter: a statement fails with a parameter that it does not use.
  const among = jsonValue(`(p.traits -> '${trait}')`);
  return {
    ...among,
    text: `coalesce(${column}, ${among.text})`,
    isSet: `${column} IS NOT NULL OR ${among.isSet}`,
  };
}

export function emailValue(context: SqlContext): SqlValue {
  const text = `(SELECT x.email FROM beckon.person_email x WHERE ${ofPerson(context)})`;
  return { text, json: 'NULL::jsonb', isSet: `${text} IS NOT NULL` };
}

/**
 * `IS TRUE`, although it is never null: a bare EXISTS would become a join. The planner took more than ten seconds to find the best order of
 * 200 joins. With it, each subquery is read once for all users, or again for each, whichever is cheaper.
 */
function existsSql(from: string): string {
  return `(EXISTS (SELECT ${from}) IS TRUE)`;
}

function ofPerson({ projectId }: SqlContext): string {
  return `x.project_id = ${projectId}::bigint AND x.external_user_id = p.external_user_id`;
}

function countSql(node: CountNode, context: SqlContext): string {
  const { least, beyond } = boundsOf(node);
  const { window } = node;
  const reaches = (nth: number): string =>
    window === null
      ? reachesInAllSql(node, nth, context)
      : reachesInWindowSql({ ...node, window }, nth, context);
  const parts = ['true'];
  if (least !== null) parts.push(reaches(least));
  if (beyond !== null) parts.push(`NOT ${reaches(beyond)}`);
  return `(${parts.join(' AND ')})`;
}

function reachesInAllSql(node: CountNode, nth: number, context: SqlContext): string {
  const total = totalSql(node.event, context);
  return existsSql(`${total} AND x.count >= ${context.params.add(nth)}::bigint`);
}

export function totalSql(event: string, context: SqlContext): string {
  const name = context.params.add(event);
  return `FROM beckon.person_event x WHERE ${ofPerson(context)} AND x.name = ${name}::text`;
}

/** Omits the offset for the first event, because an offset prevents reading the window once for all users. */
function reachesInWindowSql(node: WindowedCount, nth: number, context: SqlContext): string {
  const before = nth === 1 ? '' : ` OFFSET ${context.params.add(nth - 1)}::bigint LIMIT 1`;
  return existsSql(`${windowSql(node, context)}${before}`);
}

function sumSql(node: SumNode, context: SqlContext): string {
  const { sum } = windowSumSql(node.property, { ...context, properties: 'x.properties' });
  const total = `(SELECT ${sum} ${windowSql(node, context)})`;
  return `(${compareSql(total, { op: node.compare, than: node.than }, context.params)})`;
}

/** An event occurs at most an hour after it was received, so older partitions contain no events of the window. */
export function windowSql({ event, window }: WindowedCount | SumNode, context: SqlContext): string {
  const { params, now } = context;
  const bound = `${now}::timestamptz - ${spanSql(window.withinMs, params)}`;
  return `FROM beckon.event x WHERE ${ofPerson(context)} AND x.name = ${params.add(event)}::text
    AND x.occurred_at > ${bound} AND x.received_at >= ${bound} - interval '1 hour'
    AND ${propertyTestsSql(window.where, { ...context, properties: 'x.properties' })}`;
}

function membershipSql(audienceId: string, context: SqlContext): string {
  const versionId = context.versionId(audienceId);
  if (versionId === null) return 'false';
  return existsSql(
    `FROM beckon.audience_member x WHERE ${ofPerson(context)} AND x.version_id = ${context.params.add(versionId)}::bigint`,
  );
}
