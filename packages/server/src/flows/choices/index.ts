export { choose, type ChoiceDeps } from './choose.ts';
export { type Choice, SNOOZE_DAYS, type SnoozeDays } from './choice.ts';
export { showChoices, type Standing } from './show-choices.ts';
