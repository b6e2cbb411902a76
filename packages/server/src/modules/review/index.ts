export { type MemberAction, moveDraft } from './move-draft.ts';
export { countAutopilot } from './needs.ts';
export { sendTeamDigests } from './send-team-digest.ts';
export { checkRecipient, replyOf } from './send-test.ts';
export { previewPause } from './show-schedule.ts';
