export { type Builder, startBuilder } from './builder.ts';
export { checkDomains } from './check-domains.ts';
export { type Digester, startDigester } from './digester.ts';
export { housekeeping } from './housekeeping.ts';
export { type DraftSender, startSender } from './sender.ts';
export { tellTeam } from './tell-team.ts';
export { wordDrafts } from './word-drafts.ts';
export { type Duty, startTimetable, type Timetable } from './timetable.ts';
