import { FILTER_KEYS } from '@beckon/contract/dashboard';
import {
  type Bind,
  type Filter,
  filterSql,
  type FilterTerm,
  matches,
  timeSql,
  WORDS,
  wordsColumn,
} from '../../platform/filter/filter.ts';
import { readFilter } from '../../platform/filter/parse.ts';
import { isKnownTrait, KNOWN_TRAITS } from '../users/index.ts';

/**
 * Parses the filter of the user list, in the syntax of all lists: `plan:pro email:ada* seen:>2026-01-01 audience:"Trial users"
 * trait.seats:5`. Traits have the prefix `trait.`. `seen` and `first_seen` take a day of the zone, or a time after < or >.
 */
export function readPeopleFilter(text: string | undefined, zone: string): Filter {
  const traits = Array.from((text ?? '').matchAll(TRAIT_KEYS), (found) => found[1] ?? '');
  const named = Object.fromEntries(traits.map((key) => [key, {}]));
  return readFilter(text, { ...FILTER_KEYS.users, ...named }, zone);
}

const TRAIT_KEYS = /(?:^|\s)-?(trait\.[^\s:"]+):/g;
const MOMENTS: Record<string, string> = { seen: 'p.last_seen_at', first_seen: 'p.first_seen_at' };

/** The version that answers for each audience, listed under each of its names. */
export type FilterAudiences = { name: string; id: string; versionId: number }[];

/**
 * Returns a condition on `p`, a row of `person` whose project is `$1`, or null if no row can pass. Reads `audience_member`, a table of the
 * module `audiences`. Terms with values in another table are subqueries, so that PostgreSQL may begin with its index.
 */
export function peopleSql(filter: Filter, audiences: FilterAudiences, bind: Bind): string | null {
  const terms = mergeNegated(filter.terms);
  const addressed = terms.filter(({ key, negated }) => key === 'email' && !negated);
  const conditions = terms
    .filter((term) => !addressed.includes(term))
    .map((term) => termSql(term, audiences, bind));
  // A user has at most one address, so all of these apply to one row.
  if (addressed.length > 0) conditions.push(emailSql(addressed, bind));
  if (conditions.includes(null)) return null;
  return conditions.length === 0 ? 'true' : conditions.join(' AND ');
}

/** Combines negated terms of one key: neither a nor b equals none of a, b. Twenty subqueries of 300,000 rows each took seven seconds. */
function mergeNegated(terms: FilterTerm[]): FilterTerm[] {
  const negated = Map.groupBy(
    terms.filter((term) => term.negated),
    ({ key }) => key,
  );
  const merged = [...negated].map(([key, group]) => ({
    key,
    negated: true,
    values: group.flatMap(({ values }) => values),
    ...(group.some(({ spans }) => spans) ? { spans: group.flatMap(({ spans = [] }) => spans) } : {}),
  }));
  return [...terms.filter((term) => !term.negated), ...merged];
}

function termSql(term: FilterTerm, audiences: FilterAudiences, bind: Bind): string | null {
  if (term.key === WORDS) return wordsSql(term, bind);
  if (term.key === 'email') return emailSql([term], bind);
  if (term.key === 'audience') return audienceSql(term, audiences, bind);
  const moments = MOMENTS[term.key];
  if (moments !== undefined) return timeSql(term, moments, bind);
  return filterSql({ terms: [term] }, { [term.key]: { sql: columnOf(term.key, bind) } }, bind);
}

/**
 * Words are searched in the id, the name and the address. One subquery reads both tables, so that it becomes a join. With an OR of two
 * conditions, PostgreSQL would look up the address of every user.
 */
function wordsSql(term: FilterTerm, bind: Bind): string {
  const positive = { terms: [{ ...term, negated: false }] };
  const found = (texts: string[]): string =>
    filterSql(positive, { [WORDS]: wordsColumn(texts) }, bind) ?? 'false';
  const own = found(['w.external_user_id', `coalesce(w.name, w.traits ->> 'name')`]);
  const rows = `(SELECT w.external_user_id FROM beckon.person w WHERE w.project_id = $1 AND ${own}
    UNION ALL SELECT e.external_user_id FROM beckon.person_email e WHERE e.project_id = $1 AND ${found(['e.email_lower'])}) x`;
  return existsSql(term.negated, `${rows} WHERE true`);
}

/** Either all terms are negated or none is. */
function emailSql(terms: FilterTerm[], bind: Bind): string {
  const positive = terms.map((term) => ({
    ...term,
    values: term.values.map((pattern) => pattern.map((text) => text.toLowerCase())),
    negated: false,
  }));
  const found = filterSql({ terms: positive }, { email: { sql: 'x.email_lower' } }, bind) ?? 'false';
  const negated = terms.some((term) => term.negated);
  return existsSql(negated, `beckon.person_email x WHERE x.project_id = $1 AND ${found}`);
}

function audienceSql(term: FilterTerm, audiences: FilterAudiences, bind: Bind): string | null {
  const positive = { terms: [{ ...term, negated: false }] };
  const matching = audiences.filter(
    ({ name, id }) => matches(positive, { audience: name }) || matches(positive, { audience: id }),
  );
  if (matching.length === 0) return term.negated ? 'true' : null;
  const versions = bind(matching.map(({ versionId }) => String(versionId)));
  const among = `x.version_id + 0 = ANY (${versions}::text[]::bigint[])`;
  return existsSql(term.negated, `beckon.audience_member x WHERE x.project_id = $1 AND ${among}`);
}

/**
 * Returns a condition that becomes a semi join, or an anti join for a negated term. `NOT IN (SELECT …)` is never a join. If its list
 * exceeds work_mem, PostgreSQL reads the list again for each user. With 300,000 users such a filter did not end.
 */
function existsSql(negated: boolean, rows: string): string {
  return `${negated ? 'NOT ' : ''}EXISTS (SELECT FROM ${rows} AND x.external_user_id = p.external_user_id)`;
}

/** A known trait with a value that its column cannot hold is stored among the other traits. */
function columnOf(key: string, bind: Bind): string {
  if (key === 'user') return 'p.external_user_id';
  const trait = key.startsWith('trait.') ? key.slice('trait.'.length) : key;
  const traitSql = `p.traits ->> ${bind(trait)}::text`;
  return isKnownTrait(trait) ? `coalesce(p.${KNOWN_TRAITS[trait]}, ${traitSql})` : `(${traitSql})`;
}
