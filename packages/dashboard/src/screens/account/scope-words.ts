import type { TokenScope } from '@beckon/contract/dashboard';

/** What a scope lets a program do, for whoever is about to let it. */
export const SCOPE_WORDS: Record<TokenScope, { title: string; text: string }> = {
  read: { title: 'Read', text: 'People, drafts, letters and what happens, as a viewer sees them.' },
  review: { title: 'Review', text: 'Approve, skip and postpone drafts; replay webhooks, if your role may.' },
  import: { title: 'Import', text: 'Bring users and events in from files and from Stripe.' },
};
