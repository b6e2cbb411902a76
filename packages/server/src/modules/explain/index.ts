export { type BacktestPlaces, createBacktestPlaces } from './backtest/backtest.ts';
export { answerThen, countThen } from './event-history.ts';
export { type ExplainedRow, explainPerson } from './explain.ts';
export { reasonWords } from './reason-sentences.ts';
export { type Forecast, forecastOf, shownTime } from './send-forecast.ts';
export { type PersonAudience, listAudiencesOf, toShownEvent } from './show-person.ts';
export {
  type ShownRun,
  listWholeDrafts,
  ruleNames,
  toShownDecision,
  toShownRun,
  toWholeDraft,
} from './user-emails.ts';
export { gatherWaiting } from './waiting-queue.ts';
