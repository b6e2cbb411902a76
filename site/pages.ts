/** A page of the guide: its address below `/guide/`, and the file of the repository that it is. */
export type GuidePage = { path: string; file: string; title: string };
export type Section = { title: string; pages: GuidePage[] };

/** In the order in which somebody new would read them. Each file is read on a code host just as well: there is no copy of any. */
export const SECTIONS: Section[] = [
  {
    title: 'Begin',
    pages: [
      { path: 'index', file: 'docs/README.md', title: 'What Beckon is' },
      { path: 'quick-start', file: 'docs/quick-start.md', title: 'Quick start' },
      { path: 'concepts', file: 'docs/concepts.md', title: 'Concepts' },
      { path: 'dashboard', file: 'docs/dashboard.md', title: 'The dashboard' },
    ],
  },
  {
    title: 'Recipes',
    pages: [
      { path: 'trial-expiring', file: 'docs/recipes/trial-expiring.md', title: 'A trial that ends' },
      { path: 'onboarding-stall', file: 'docs/recipes/onboarding-stall.md', title: 'A start that stalls' },
      { path: 'upsell', file: 'docs/recipes/upsell.md', title: 'A plan that is nearly full' },
      { path: 'key-rotation', file: 'docs/recipes/key-rotation.md', title: 'Change an API key' },
      { path: 'real-mail', file: 'docs/recipes/real-mail.md', title: 'From the outbox to people' },
    ],
  },
  {
    title: 'Send data in',
    pages: [
      { path: 'api', file: 'docs/api.md', title: 'The API' },
      { path: 'errors', file: 'docs/errors.md', title: 'Errors' },
      { path: 'client', file: 'docs/client.md', title: 'The client for Node' },
      { path: 'cli', file: 'docs/cli.md', title: 'The command line' },
      { path: 'imports', file: 'docs/imports.md', title: 'Imports' },
      { path: 'stripe', file: 'docs/stripe.md', title: 'Import from Stripe' },
      { path: 'sandbox', file: 'docs/sandbox.md', title: 'Sandbox' },
    ],
  },
  {
    title: 'Decide and write',
    pages: [
      { path: 'audiences', file: 'docs/audiences.md', title: 'Audiences' },
      { path: 'rules', file: 'docs/rules.md', title: 'Rules' },
      { path: 'letters', file: 'docs/letters.md', title: 'Letters' },
      { path: 'why-not-sent', file: 'docs/why-not-sent.md', title: 'Why was it not sent?' },
    ],
  },
  {
    title: 'Send, and hear back',
    pages: [
      { path: 'outbox', file: 'docs/outbox.md', title: 'The outbox' },
      { path: 'domains', file: 'docs/domains.md', title: 'Sending domains' },
      { path: 'outcomes', file: 'docs/outcomes.md', title: 'What becomes of letters' },
      { path: 'webhooks', file: 'docs/webhooks.md', title: 'Webhooks' },
      { path: 'webhooks-verify', file: 'docs/webhooks-verify.md', title: 'Verify a webhook' },
    ],
  },
  {
    title: 'Run it',
    pages: [
      { path: 'self-hosting', file: 'docs/self-hosting.md', title: 'Self-hosting' },
      { path: 'backup', file: 'docs/backup.md', title: 'Backups' },
      { path: 'several-machines', file: 'docs/several-machines.md', title: 'Several machines' },
      { path: 'sizing', file: 'docs/sizing.md', title: 'How large' },
      { path: 'settings', file: 'docs/settings.md', title: 'Settings' },
      { path: 'operator', file: 'docs/operator.md', title: 'The operator’s commands' },
      { path: 'monitoring', file: 'docs/monitoring.md', title: 'Watch it' },
      { path: 'proof', file: 'docs/proof.md', title: 'Proof' },
      { path: 'security', file: 'SECURITY.md', title: 'Security' },
      { path: 'access', file: 'docs/access.md', title: 'Who may do what' },
      { path: 'releases', file: 'docs/releases.md', title: 'Releases' },
      { path: 'benchmarks', file: 'docs/benchmarks.md', title: 'How fast it is' },
    ],
  },
  {
    title: 'Know it',
    pages: [
      { path: 'guarantees', file: 'docs/guarantees.md', title: 'Guarantees' },
      { path: 'comparison', file: 'docs/comparison.md', title: 'Comparison and limits' },
      { path: 'states', file: 'docs/states.md', title: 'States' },
    ],
  },
];

export const PAGES: readonly GuidePage[] = SECTIONS.flatMap((section) => section.pages);
