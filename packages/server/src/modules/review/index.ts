export { type MemberAction, moveDraft } from './move-draft.ts';
export { countAutopilot } from './needs.ts';
export { checkRecipient, replyOf } from './send-test.ts';
export { previewPause } from './show-schedule.ts';
