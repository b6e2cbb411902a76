import type { FirstEmail, SetupStep } from '@beckon/contract/dashboard';

export type StepText = {
  title: string;
  text: string;
  /** The screen of the step; null: a command. */
  page:
    | 'rules'
    | 'review'
    | 'schedule'
    | 'suppressions'
    | `settings/${'api-keys' | 'domains' | 'sender' | 'team'}`
    | null;
  action: string;
};

export const STEPS: Record<SetupStep['id'], StepText> = {
  key_created: {
    title: 'Create an API key',
    text: 'Your server uses it to send users and events. It is shown once.',
    page: 'settings/api-keys',
    action: 'Create API key',
  },
  first_event: {
    title: 'Send the first event',
    text: 'Send a test event, or run this on your server with your key in BECKON_API_KEY.',
    page: null,
    action: '',
  },
  rule_on: {
    title: 'Enable a rule',
    text: 'Four rules are built in. An enabled rule creates a draft when its event arrives.',
    page: 'rules',
    action: 'Open Rules',
  },
  first_email: {
    title: 'Send the first email',
    text: 'Approve a draft in Review, or wait for its deadline.',
    page: 'review',
    action: 'Open Review',
  },
  domain_verified: {
    title: 'Verify a sending domain',
    text: 'Add the DNS records, and check them.',
    page: 'settings/domains',
    action: 'Open Domains',
  },
  sender_set: {
    title: 'Set the sender',
    text: 'Name, address and postal address. Without them, all emails are held.',
    page: 'settings/sender',
    action: 'Open Sender',
  },
  suppressions_imported: {
    title: 'Import your suppression list',
    text: 'Before the first email: addresses that unsubscribed or bounced in your previous system.',
    page: 'suppressions',
    action: 'Open Suppressions',
  },
  team_invited: {
    title: 'Invite a team member',
    text: 'Share the review of drafts.',
    page: 'settings/team',
    action: 'Open Team',
  },
};

/** The member's next action for the first email. It depends on the draft: none, undecided, held or approved. */
export function firstEmailStep(first: Pick<FirstEmail, 'state' | 'sends_at'> | null): StepText {
  const step = STEPS.first_email;
  switch (first?.state) {
    case undefined:
      return {
        ...step,
        text: 'No draft waits for review. Send a test event, or run these calls with your key in BECKON_API_KEY.',
        page: null,
        action: '',
      };
    case 'held':
      return { ...step, text: 'The first draft is held. “Your first email” names the reason.' };
    case 'approved':
    case 'sending':
      return {
        ...step,
        text: 'The first draft is approved and about to be sent.',
        action: 'View scheduled emails',
        page: 'schedule',
      };
    default:
      return {
        ...step,
        text: `Approve the draft in Review${first?.sends_at === null ? '' : ', or wait for its deadline'}.`,
      };
  }
}

/** The next step: the first one that is not done. */
export function nextStep(steps: SetupStep[]): SetupStep['id'] | null {
  const open = steps.filter(({ done }) => !done);
  return (open.find(({ required }) => required) ?? open[0])?.id ?? null;
}
