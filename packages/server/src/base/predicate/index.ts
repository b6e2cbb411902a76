export { type Directions, directionsOf } from './directions.ts';
export { predicateDocument, propertyTestDocument } from './document.ts';
export { evaluate } from './evaluate.ts';
export { type Explained, explain } from './explain.ts';
export { matchesWhere } from './matches.ts';
export { mentionsOf } from './mentions.ts';
export { type ParsedPredicate, parsePredicate, readAudienceId, readPredicate } from './parse.ts';
export { readEventName } from './parse-events.ts';
export { allOf, onlyKey, readKey, readPropertyTest, readSpan, readText, readWhere } from './parse-values.ts';
export {
  faultsOf,
  inside,
  isObject,
  type JsonObject,
  listOf,
  type Place,
  refuse,
  refuseOthers,
  startReading,
  takeCondition,
} from './place.ts';
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
export { type AudienceNames, audienceWords, eventWords, sentenceOf, userClauseOf } from './sentence.ts';
export { predicateSql, type SqlContext } from './sql.ts';
export { type SqlParams, sqlParams } from './sql-params.ts';
export { type PropertyContext, propertyTestsSql, windowSumSql } from './sql-values.ts';
export { durationWords, quoted, testWords, word } from './words.ts';
