import type { Role } from '@beckon/contract/dashboard';

/** The permissions of each role. */
export const ROLE_WORDS: Record<Role, string> = {
  viewer: 'Views everything except secrets. Cannot export.',
  reviewer: 'Approves, skips and postpones drafts.',
  editor: 'Edits drafts, rules, audiences, templates.',
  admin: 'Manages keys, webhooks, domains, sending policy, pause and members.',
  owner: 'Everything, including the owners.',
};
