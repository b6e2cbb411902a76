/**
 * Statements of a database that is distributed over several nodes. A statement that names its one project as a plain value reads one
 * node, and has all features of PostgreSQL. A statement that joins a list of projects row by row names none,
 * even if the list holds one project many times. It is slow there, and it fails if it locks rows.
 */

/**
 * A statement that takes a list of projects: the number of the list's parameter, and the text for a list that holds one project. The project
 * is an additional parameter, or takes the place of a list that is not used any more.
 */
type ListStatement = { parameter: number; text: string; replacesList: boolean };

const LIST_STATEMENTS_MAX = 2_000;
const listStatements = new Map<string, ListStatement | null>();

/**
 * Names the project of a statement whose list of projects holds one project only, as an additional parameter. Returns every other statement
 * unchanged: callers group their work by project (`byProject`), and the database rejects what it cannot run.
 */
export function nameProject<Q extends { name?: string; text: string; values?: unknown[] }>(query: Q): Q {
  const { name, text, values } = query;
  if (values === undefined) return query;
  let statement = listStatements.get(text);
  if (statement === undefined) {
    statement = readListStatement(text);
    // The texts of filters are made of parts, so their number is not known.
    if (listStatements.size === LIST_STATEMENTS_MAX) listStatements.clear();
    listStatements.set(text, statement);
  }
  if (statement === null) return query;
  const projectId = onlyProject(values[statement.parameter - 1]);
  if (projectId === undefined) return query;
  const namedValues = statement.replacesList
    ? values.with(statement.parameter - 1, projectId)
    : [...values, projectId];
  const named = { ...query, text: statement.text, values: namedValues };
  return name === undefined ? named : { ...named, name: `${name}.project` };
}

const IS_OF_LIST = /(?<![\w.])((?:\w+\.)?project_id) = ANY ?\(\$(\d+)(?:::bigint\[\])?\)/g;
const IS_OF_ROW = /(?<![\w.])((?:\w+\.)?project_id) = (\w+\.project_id)\b/g;
const IS_IN_LIST = /(?<![\w.])\(((?:\w+\.)?project_id), [^()]*\) IN \(\s*SELECT\b/g;
const ROW_ADDRESS = /(?<![\w.])ctid = ANY \(/g;
const PARAMETERS = /\$(\d+)/g;

/** Returns null if the statement takes no list of projects, or compares no row with it. */
export function readListStatement(text: string): ListStatement | null {
  const parameter = listParameter(text);
  if (parameter === null) return null;
  const count = Math.max(...Array.from(text.matchAll(PARAMETERS), ([, number]) => Number(number)));
  const project = `$${count + 1}::bigint`;
  const named = text
    .replaceAll(IS_IN_LIST, (match, column: string) => `${column} = ${project} AND ${match}`)
    .replaceAll(IS_OF_LIST, (match, column: string, list: string) =>
      Number(list) === parameter ? `${column} = ${project}` : match,
    )
    .replaceAll(IS_OF_ROW, `($1 = ${project.replace('$', '$$$$')} AND $2 = ${project.replace('$', '$$$$')})`)
    // The address of a row is unique in its shard only.
    .replaceAll(ROW_ADDRESS, (match) => `project_id = ${project} AND ${match}`);
  if (named === text) return null;
  // PostgreSQL rejects a parameter that a statement does not use.
  const replacesList = !new RegExp(`\\$${parameter}\\b`).test(named);
  return {
    parameter,
    replacesList,
    text: replacesList ? named.replaceAll(project, `$$${parameter}::bigint`) : named,
  };
}

/** Returns the number of the parameter that lists the projects of a statement. */
function listParameter(text: string): number | null {
  for (const { index } of text.matchAll(/\bunnest\(/g)) {
    const [, parameter] = /^\$(\d+)::bigint\[\]/.exec(text.slice(index + 'unnest('.length)) ?? [];
    if (parameter === undefined) continue;
    const columns = /^\s*(?:WITH ORDINALITY\s+)?(?:AS\s+)?\w+\s*\(\s*(\w+)/.exec(
      text.slice(closing(text, index)),
    );
    const isBehindColumns = /\(\s*(?:\w+\.)?project_id\b[^()]*\)\s*(?:IN \(\s*)?SELECT \* FROM $/.test(
      text.slice(0, index),
    );
    if (columns?.[1] === 'project_id' || (columns === null && isBehindColumns)) return Number(parameter);
  }
  const [first] = text.matchAll(IS_OF_LIST);
  return first ? Number(first[2]) : null;
}

/** Returns the position behind the parenthesis that closes the first one after `start`. */
function closing(text: string, start: number): number {
  let depth = 0;
  for (let at = text.indexOf('(', start); at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    else if (text[at] === ')' && (depth -= 1) === 0) return at + 1;
  }
  return text.length;
}

/** Returns the project of a list that holds no other, null for an empty list, and undefined for every other value. */
function onlyProject(list: unknown): number | string | null | undefined {
  const ids = elementsOf(list);
  if (ids === undefined) return undefined;
  const [first = null] = ids;
  return ids.every((id) => id === first) ? first : undefined;
}

/** Reads an array parameter, also one that `plainList` formatted. */
function elementsOf(list: unknown): (number | string)[] | undefined {
  if (Array.isArray(list)) return list;
  if (typeof list !== 'string' || !list.startsWith('{')) return undefined;
  return list === '{}' ? [] : list.slice(1, -1).split(',');
}
