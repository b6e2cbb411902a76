import type { TokenScope } from '@beckon/contract/dashboard';

/** Describes each scope for the member who approves it. */
export const SCOPE_WORDS: Record<TokenScope, { title: string; text: string }> = {
  read: { title: 'Read', text: 'View users, drafts, emails, rules and activity.' },
  review: {
    title: 'Review',
    text: 'Approve, skip, postpone and resend drafts. Forward replies. Replay webhooks.',
  },
  edit: { title: 'Edit', text: 'Edit drafts, rules, audiences and templates. Revoke your personal tokens.' },
  admin: {
    title: 'Admin',
    text: 'Manage API keys, webhooks, domains, settings, suppressions and members. Create projects. Export and erase users.',
  },
  import: { title: 'Import', text: 'Import users and events from files and from Stripe.' },
};
