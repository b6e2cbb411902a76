export { type ExplainedRow, explainPerson } from './explain.ts';
export { reasonWords } from './reason-sentences.ts';
export { forecastOf, timeOrNull } from './send-forecast.ts';
export { listAudiencesOf, eventView } from './show-person.ts';
export {
  type RunView,
  listDraftHistories,
  ruleNames,
  decisionView,
  runView,
  draftHistoryView,
} from './user-emails.ts';
export { loadWaitingQueue } from './waiting-queue.ts';
