import type { SetupStep } from '@beckon/contract/dashboard';

export type StepText = {
  title: string;
  text: string;
  /** The screen of the step; null: a command. */
  page: 'keys' | 'rules' | 'review' | 'domains' | 'sender' | 'suppressions' | 'team' | null;
  action: string;
};

export const STEPS: Record<SetupStep['id'], StepText> = {
  key_created: {
    title: 'Create an API key',
    text: 'Your server uses it to send users and events. It is shown once.',
    page: 'keys',
    action: 'Create API key',
  },
  first_event: {
    title: 'Send the first event',
    text: 'Paste this into a shell, with your key in the first line:',
    page: null,
    action: '',
  },
  rule_on: {
    title: 'Turn on a rule',
    text: 'Four rules are built in. A rule that is on creates a draft when its event arrives.',
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
    page: 'domains',
    action: 'Open Domains',
  },
  sender_set: {
    title: 'Set the sender',
    text: 'Name, address and postal address. Without them, all emails are held.',
    page: 'sender',
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
    page: 'team',
    action: 'Open Team',
  },
};

/** The first API calls to paste: a user with an address, and an event. */
export function firstCall(origin: string): string {
  const post = (path: string, body: object): string =>
    `curl -sS ${origin}/api/v1/${path} -H "Authorization: Bearer $BECKON_API_KEY" -H "Content-Type: application/json" \\\n  -d '${JSON.stringify(body)}'`;
  return [
    'BECKON_API_KEY=sk_live_…',
    post('users', { external_user_id: 'user_42', email: 'ada@example.com', traits: { name: 'Ada' } }),
    post('events', { external_user_id: 'user_42', name: 'user_signed_up' }),
  ].join('\n');
}

/** The next step: the first one that is not done. */
export function nextStep(steps: SetupStep[]): SetupStep['id'] | null {
  const open = steps.filter(({ done }) => !done);
  return (open.find(({ required }) => required) ?? open[0])?.id ?? null;
}
