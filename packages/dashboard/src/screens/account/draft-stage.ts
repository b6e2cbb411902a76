import type { DraftListed } from '@beckon/contract/dashboard';

/** `review`: it waits for the member. `approved`: it is sent soon, or held by a send check. `ended`: it was not sent. */
export type DraftStage = 'review' | 'approved' | 'sent' | 'ended';

/** Returns how far the first draft has come. */
export function stageOf({
  state,
  resume_state: resumes,
}: Pick<DraftListed, 'state' | 'resume_state'>): DraftStage {
  if (state === 'sent') return 'sent';
  if (state === 'approved' || state === 'sending') return 'approved';
  if (state === 'held') return resumes === 'approved' ? 'approved' : 'review';
  return state === 'scheduled' ? 'review' : 'ended';
}
