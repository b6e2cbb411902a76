export { type Directions, directionsOf } from './directions.ts';
export { evaluate } from './evaluate.ts';
export { type Explained, explain } from './explain.ts';
export { mentionsOf } from './mentions.ts';
export { type ParsedPredicate, parsePredicate } from './parse.ts';
export type {
  Answer,
  Facts,
  Mentions,
  NthQuestion,
  NumberCompare,
  Predicate,
  PropertyTest,
  Question,
  SumQuestion,
  TimeTest,
  ValueTest,
  Window,
  WindowSum,
} from './predicate.ts';
export { sentenceOf } from './sentence.ts';
export { predicateSql, type SqlContext } from './sql.ts';
export { type SqlParams, sqlParams } from './sql-params.ts';
export { type PropertyContext, propertyTestsSql, windowSumSql } from './sql-values.ts';
