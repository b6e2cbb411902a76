export { type ExplainedRow, explainPerson } from './explain.ts';
export { reasonWords } from './reason-sentences.ts';
export { type Forecast, forecastOf, timeOrNull } from './send-forecast.ts';
export { type PersonAudience, listAudiencesOf, eventView } from './show-person.ts';
export {
  type RunView,
  listDraftHistories,
  ruleNames,
  decisionView,
  runView,
  draftHistoryView,
} from './user-emails.ts';
export { loadWaitingQueue } from './waiting-queue.ts';
