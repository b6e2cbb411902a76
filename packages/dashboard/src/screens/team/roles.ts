import type { Role } from '@beckon/contract/dashboard';

/** What each may do, as it is chosen. */
export const ROLE_WORDS: Record<Role, string> = {
  viewer: 'Reads. No export, no secrets.',
  reviewer: 'Approves, skips and postpones drafts.',
  editor: 'Edits drafts, rules, audiences, templates.',
  admin: 'Keys, webhooks, domains, sending policy, pause, members.',
  owner: 'Everything, and who owns it.',
};
