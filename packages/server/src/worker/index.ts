export { forgetAnswers } from './forget-answers.ts';
export { type Duty, startTimetable, type Timetable } from './timetable.ts';
