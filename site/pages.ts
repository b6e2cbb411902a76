/** A page of the guide: its address below `/guide/`, and its file in the repository. */
export type GuidePage = { path: string; file: string; title: string };
export type Section = { title: string; pages: GuidePage[] };

/** Sections follow Diátaxis. Pages are in reading order, and each file is also readable on a code host. */
export const SECTIONS: Section[] = [
  {
    title: 'Start here',
    pages: [
      { path: 'index', file: 'docs/README.md', title: 'What Beckon is' },
      { path: 'concepts', file: 'docs/concepts.md', title: 'Concepts' },
      { path: 'quick-start', file: 'docs/tutorials/quick-start.md', title: 'Quick start' },
    ],
  },
  {
    title: 'How-to guides',
    pages: [
      { path: 'trial-expiring', file: 'docs/how-to/trial-expiring.md', title: 'Email before a trial ends' },
      {
        path: 'onboarding-stall',
        file: 'docs/how-to/onboarding-stall.md',
        title: 'Email when onboarding stalls',
      },
      { path: 'upsell', file: 'docs/how-to/upsell.md', title: 'Email when a plan is nearly full' },
      { path: 'go-live', file: 'docs/how-to/go-live.md', title: 'Go live' },
      { path: 'domains', file: 'docs/how-to/domains.md', title: 'Sending domains' },
      {
        path: 'receive-bounces-and-replies',
        file: 'docs/how-to/receive-bounces-and-replies.md',
        title: 'Receive bounces and replies',
      },
      {
        path: 'receive-replies-without-port-25',
        file: 'docs/how-to/receive-replies-without-port-25.md',
        title: 'Receive replies without port 25',
      },
      { path: 'relay-postmark', file: 'docs/how-to/relay-postmark.md', title: 'Send through Postmark' },
      { path: 'relay-resend', file: 'docs/how-to/relay-resend.md', title: 'Send through Resend' },
      { path: 'relay-ses', file: 'docs/how-to/relay-ses.md', title: 'Send through Amazon SES' },
      { path: 'relay-mailgun', file: 'docs/how-to/relay-mailgun.md', title: 'Send through Mailgun' },
      { path: 'relay-sendgrid', file: 'docs/how-to/relay-sendgrid.md', title: 'Send through SendGrid' },
      { path: 'relay-brevo', file: 'docs/how-to/relay-brevo.md', title: 'Send through Brevo' },
      { path: 'relay-postal', file: 'docs/how-to/relay-postal.md', title: 'Send through Postal' },
      { path: 'verify-webhooks', file: 'docs/how-to/verify-webhooks.md', title: 'Verify webhooks' },
      { path: 'imports', file: 'docs/how-to/imports.md', title: 'Imports' },
      { path: 'stripe', file: 'docs/how-to/stripe.md', title: 'Import from Stripe' },
      { path: 'rotate-api-keys', file: 'docs/how-to/rotate-api-keys.md', title: 'Rotate API keys' },
      { path: 'troubleshooting', file: 'docs/how-to/troubleshooting.md', title: 'Troubleshooting' },
      { path: 'self-hosting', file: 'docs/how-to/self-hosting.md', title: 'Self-hosting' },
      { path: 'backup', file: 'docs/how-to/backup.md', title: 'Backup and restore' },
      { path: 'monitoring', file: 'docs/how-to/monitoring.md', title: 'Monitoring' },
      { path: 'scaling', file: 'docs/how-to/scaling.md', title: 'Scaling' },
    ],
  },
  {
    title: 'Reference',
    pages: [
      { path: 'api', file: 'docs/reference/api.md', title: 'API' },
      { path: 'errors', file: 'docs/reference/errors.md', title: 'Errors' },
      { path: 'client', file: 'docs/reference/client.md', title: 'Client for Node.js' },
      { path: 'cli', file: 'docs/reference/cli.md', title: 'Command line' },
      { path: 'audiences', file: 'docs/reference/audiences.md', title: 'Audiences' },
      { path: 'rules', file: 'docs/reference/rules.md', title: 'Rules' },
      { path: 'emails', file: 'docs/reference/emails.md', title: 'Emails' },
      { path: 'draft-states', file: 'docs/reference/draft-states.md', title: 'Draft states' },
      { path: 'test-inbox', file: 'docs/reference/test-inbox.md', title: 'Test inbox' },
      { path: 'test-clock', file: 'docs/reference/test-clock.md', title: 'Sandbox and test clock' },
      { path: 'outcomes', file: 'docs/reference/outcomes.md', title: 'Outcomes' },
      { path: 'tracking', file: 'docs/reference/tracking.md', title: 'Tracking' },
      { path: 'email-preferences', file: 'docs/reference/email-preferences.md', title: 'Email preferences' },
      { path: 'relays', file: 'docs/reference/relays.md', title: 'Relays' },
      { path: 'relay-providers', file: 'docs/reference/relay-providers.md', title: 'Relay providers' },
      { path: 'suppression-list', file: 'docs/reference/suppression-list.md', title: 'Suppression list' },
      { path: 'webhooks', file: 'docs/reference/webhooks.md', title: 'Webhooks' },
      { path: 'dashboard', file: 'docs/reference/dashboard.md', title: 'Dashboard' },
      { path: 'access-control', file: 'docs/reference/access-control.md', title: 'Access control' },
      { path: 'settings', file: 'docs/reference/settings.md', title: 'Settings' },
      { path: 'metrics', file: 'docs/reference/metrics.md', title: 'Metrics and log' },
      { path: 'beckon-server', file: 'docs/reference/beckon-server.md', title: 'Server commands' },
      { path: 'releases', file: 'docs/reference/releases.md', title: 'Releases' },
    ],
  },
  {
    title: 'Explanation',
    pages: [
      { path: 'guarantees', file: 'docs/explanation/guarantees.md', title: 'Guarantees' },
      { path: 'comparison', file: 'docs/explanation/comparison.md', title: 'Comparison and limits' },
      { path: 'security', file: 'SECURITY.md', title: 'Security' },
      { path: 'proof', file: 'docs/explanation/proof.md', title: 'How it is tested' },
      { path: 'benchmarks', file: 'docs/explanation/benchmarks.md', title: 'Benchmarks' },
      { path: 'sizing', file: 'docs/explanation/sizing.md', title: 'Sizing' },
      { path: 'scale-model', file: 'docs/explanation/scale-model.md', title: 'Scale model' },
    ],
  },
];

export const PAGES: readonly GuidePage[] = SECTIONS.flatMap((section) => section.pages);
