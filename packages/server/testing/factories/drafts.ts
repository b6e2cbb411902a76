import type { NewDraft } from '../../src/modules/drafts/new-draft.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

/** Returns a generic draft, for a test to change the relevant part. */
export function draftFacts(newId: () => string): Omit<NewDraft, 'now'> {
  return {
    projectId: 1,
    id: newId(),
    ruleId: newId(),
    version: 1,
    runId: newId(),
    step: 0,
    userId: 'user-1',
    key: '',
    content: { subject: 'Welcome', preheader: 'Hello', body: 'Hello *Ada*', format: 'markdown' },
    facts: { name: 'Ada' },
    priority: 20,
    counts: true,
    autopilotMs: 2 * HOUR,
    endsAt: null,
    expiresAfterMs: 72 * HOUR,
    hasAddress: true,
    missing: null,
    mayHaveLeft: false,
  };
}
