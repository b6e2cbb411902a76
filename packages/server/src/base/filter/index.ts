export {
  type Filter,
  type FilterTerm,
  isExact,
  matches,
  NO_FILTER,
  passes,
  type Pattern,
  type Vocabulary,
} from './filter.ts';
export { type ParsedFilter, parseFilter } from './parse.ts';
export { printFilter } from './print.ts';
export { type Bind, type FilterColumn, filterSql } from './to-sql.ts';
