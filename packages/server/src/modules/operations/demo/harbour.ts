/** The setup of the Harbour team: rules, audiences and an email template of their own, in addition to the shipped ones. */
export const AUDIENCES: { name: string; definition: object }[] = [
  {
    name: 'Active trials',
    definition: {
      all: [
        { trait: 'plan', equals: 'trial' },
        { event: 'feature_used', at_least: 1, within: '7d' },
      ],
    },
  },
  {
    name: 'Power users',
    definition: { event: 'feature_used', at_least: 10, within: '30d' },
  },
  {
    name: 'Paying teams',
    definition: { trait: 'plan', one_of: ['starter', 'team', 'business'] },
  },
];

export const TEMPLATES: object[] = [
  {
    name: 'invite your team',
    subject: '{{ user.name | default: "Hello" }}, Harbour is better together',
    preheader: 'Three ways teams of your size begin',
    body: `Hi {{ user.name | default: "there" }},

you have been on your own in Harbour so far. Teams that invite a second person in their first week are the ones that stay, and it takes a minute:

1. Open a project.
2. Press **Share**.
3. Paste the addresses of those you work with.

[Invite your team](https://app.harbour.example/invite)

If you are only looking around for now: that is fine too. Reply to this email and tell us what you are after.`,
  },
  {
    name: 'we miss you',
    subject: 'Did something get in the way?',
    preheader: 'A short question from the people who build Harbour',
    body: `Hi {{ user.name | default: "there" }},

it has been three weeks since you last opened Harbour. Did something get in the way?

Answer with one word if you like: *time*, *price*, *missing*. We read every answer, and we do act on them.

[Back to your projects](https://app.harbour.example/projects)`,
  },
];

export const RULES: object[] = [
  {
    name: 'Trial tour',
    when: { event: 'project_created' },
    only_if: { trait: 'plan', equals: 'trial' },
    exits: { events: ['subscription_started'] },
    goal: { event: 'teammate_invited' },
    holdout: 10,
    priority: 40,
    steps: [
      { wait_for: { event: 'teammate_invited', within: '2d' }, then: [{ end: true }] },
      { draft: 'invite your team' },
      { wait: '4d' },
      {
        draft: {
          subject: 'How is it going, {{ user.name | default: "so far" }}?',
          body: 'Hi {{ user.name | default: "there" }},\n\nyou are a week into Harbour. What is the one thing that would make it worth keeping?\n\n[See what others do with it](https://harbour.example/stories)',
        },
      },
    ],
  },
  {
    name: 'Win back',
    mode: 'draft',
    when: { absence_of: ['feature_used'], since: { event: 'subscription_started' }, for: '21d' },
    exits: { events: ['feature_used'] },
    priority: 30,
    steps: [{ draft: 'we miss you' }],
  },
  {
    name: 'Payment failed',
    when: { event: 'payment_failed' },
    enrollment: { cooldown: '7d' },
    deadline: '30m',
    priority: 95,
    steps: [
      {
        draft: {
          subject: 'Your payment did not go through',
          body: 'Hi {{ user.name | default: "there" }},\n\nyour last payment did not go through. It is usually an expired card, and takes a minute to put right.\n\n[Update your card](https://app.harbour.example/billing)\n\nNothing changes for the next 7 days.',
        },
      },
    ],
  },
];

/** This domain cannot be registered, so its DNS records are never found. Its screen shows the records to add. */
export const DOMAIN = 'mail.harbour.example';

export const SETTINGS: Record<string, string> = {
  quiet_hours: '21:00-08:00',
  time_zone: 'Europe/Berlin',
  from_name: 'Harbour',
  from_address: `hello@${DOMAIN}`,
  reply_to: 'team@harbour.example',
  postal_address: 'Harbour, 12 Quay Street, 20457 Hamburg',
  topics: 'tips:Tips and ideas,product:Product news',
};
