import type { SetupStep } from '@beckon/contract/dashboard';

export type StepShown = {
  title: string;
  text: string;
  /** Where it is done; null: by the command. */
  page: 'keys' | 'rules' | 'review' | 'domains' | 'sender' | 'suppressions' | 'team' | null;
  action: string;
};

export const STEPS: Record<SetupStep['id'], StepShown> = {
  key_created: {
    title: 'Make an API key',
    text: 'Your server sends with it. It is shown once.',
    page: 'keys',
    action: 'Make a key',
  },
  first_event: {
    title: 'Send the first event',
    text: 'Paste this into a shell, with your key in the first line:',
    page: null,
    action: '',
  },
  rule_on: {
    title: 'Switch a rule on',
    text: 'Four rules are there already; one that is on drafts a letter when its event comes.',
    page: 'rules',
    action: 'Open Rules',
  },
  first_email: {
    title: 'See the first letter leave',
    text: 'Approve a draft in Review, or wait for its deadline.',
    page: 'review',
    action: 'Open Review',
  },
  domain_verified: {
    title: 'Verify a sending domain',
    text: 'Records for its DNS, and whether they are there.',
    page: 'domains',
    action: 'Open Domains',
  },
  sender_set: {
    title: 'Say as whom you write',
    text: 'Name, address and postal address: without them letters are held.',
    page: 'sender',
    action: 'Open Sender',
  },
  suppressions_imported: {
    title: 'Import who wants no letters',
    text: 'Before the first letter leaves: those who unsubscribed or bounced elsewhere.',
    page: 'suppressions',
    action: 'Open Suppressions',
  },
  team_invited: {
    title: 'Invite somebody',
    text: 'Drafts are read sooner by two.',
    page: 'team',
    action: 'Open Team',
  },
};

/** The first call, to be pasted whole: a person who has an address, and what happened to them. */
export function firstCall(origin: string): string {
  const post = (path: string, body: object): string =>
    `curl -sS ${origin}/api/v1/${path} -H "Authorization: Bearer $BECKON_KEY" -H "Content-Type: application/json" \\\n  -d '${JSON.stringify(body)}'`;
  return [
    'BECKON_KEY=sk_live_…',
    post('users', { external_user_id: 'user_42', email: 'ada@example.com', traits: { name: 'Ada' } }),
    post('events', { external_user_id: 'user_42', name: 'user_signed_up' }),
  ].join('\n');
}

/** What is to be done next: the first that is not done. */
export function nextStep(steps: SetupStep[]): SetupStep['id'] | null {
  const open = steps.filter(({ done }) => !done);
  return (open.find(({ required }) => required) ?? open[0])?.id ?? null;
}
