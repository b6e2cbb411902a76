import type { RouteKey } from '@beckon/contract/dashboard';

/** Dashboard routes without a command, by the reason. A test compares them with the routes of the server. */
const REASONS: Record<string, readonly RouteKey[]> = {
  'One relay; show finds it in the list by its name': ['GET /projects/:project/relays/:relay'],
  'Renders an email in a frame of the dashboard; commands print its text': [
    'GET /projects/:project/emails/:email/email.html',
    'GET /projects/:project/test-inbox/:email/email.html',
    'GET /projects/:project/drafts/:draft/email.html',
    'GET /projects/:project/templates/:template/email.html',
  ],
  'Feeds the editor of the dashboard with the names that a project has sent': [
    'GET /projects/:project/predicate-facts',
  ],
  'Shows a definition in words while it is edited; preview and show include the sentence': [
    'POST /projects/:project/audiences/sentence',
  ],
  'Locks a draft while its dashboard editor is open; edit is one call': [
    'POST /projects/:project/drafts/:draft/open-editor',
    'POST /projects/:project/drafts/:draft/close-editor',
  ],
  'Numbers for badges and charts of the dashboard': [
    'GET /projects/:project/schedule',
    'GET /projects/:project/drafts/counts',
    'GET /projects/:project/review/today',
    'GET /projects/:project/counts',
    'GET /projects/:project/insights/days',
  ],
  'The next email of one user; schedule lists all planned emails': [
    'GET /projects/:project/users/:user/next-email',
  ],
  'Uses the address of a signed-in member; track sends any event': ['POST /projects/:project/test-event'],
  'Searches all lists at once for the command menu; each list command searches its own list': [
    'GET /projects/:project/search',
  ],
  'Suggests values while a filter is typed': ['GET /projects/:project/filter-values'],
  'The rows of a list command as a file of the dashboard; the command prints them with --json': [
    'GET /projects/:project/audiences.csv',
    'GET /projects/:project/events.csv',
    'GET /projects/:project/templates.csv',
    'GET /projects/:project/requests.csv',
    'GET /projects/:project/replies.csv',
    'GET /projects/:project/test-inbox.csv',
    'GET /projects/:project/imports.csv',
    'GET /projects/:project/suppressions.csv',
    'GET /projects/:project/dead-letters.csv',
    'GET /projects/:project/webhooks.csv',
    'GET /projects/:project/webhook-deliveries.csv',
    'GET /projects/:project/audiences/:audience/members.csv',
    'GET /projects/:project/domains.csv',
    'GET /projects/:project/drafts.csv',
    'GET /projects/:project/keys.csv',
    'GET /projects/:project/members.csv',
    'GET /projects/:project/review/decided.csv',
    'GET /projects/:project/rules/:rule/runs.csv',
    'GET /projects/:project/suppressions/topics.csv',
  ],
  'Acts on selected rows of the dashboard; rules enable, suppressions remove and drafts send-again act on one':
    [
      'POST /projects/:project/rules/switch-many',
      'POST /projects/:project/suppressions/remove-many',
      'POST /projects/:project/emails/send-again',
    ],
  'Renames a view in the dashboard; views delete and views create do the same': [
    'PATCH /projects/:project/views/:view',
  ],
  'Explains an empty screen; the empty list of test-inbox says the same': [
    'GET /projects/:project/test-inbox/state',
  ],
  'The start of a raw email for the screen; test-inbox show --raw prints all of it': [
    'GET /projects/:project/test-inbox/:email/source',
  ],
  'The last import, for the setup list; audit list --action suppression.import shows all': [
    'GET /projects/:project/suppressions/state',
  ],
  'The organization of one project; organizations list shows all': ['GET /projects/:project/organization'],
  'The dashboard continues an interrupted upload; a command uploads the file again': [
    'GET /projects/:project/imports/:import/parts',
  ],
  'A link of the dashboard to one entry; tail and activity export print entries': [
    'GET /projects/:project/stream/:place',
  ],
  'Approving a program takes a signed-in member in a browser': [
    'GET /device/:code',
    'POST /device/:code/approve',
    'POST /device/:code/deny',
  ],
  'Signing in and accounts take a browser': [
    'GET /session',
    'GET /links',
    'POST /sign-in',
    'POST /sign-in/totp',
    'POST /sign-in/backup-code',
    'POST /sign-in/passkey-options',
    'POST /sign-in/passkey',
    'POST /sign-out',
    'POST /setup',
    'POST /invites/accept',
    'POST /reset',
    'POST /forgot',
    'POST /profile',
    'POST /password',
    'GET /sessions',
    'POST /sessions/:session/end',
    'POST /sessions/end-others',
    'POST /two-factor/begin',
    'POST /two-factor/confirm',
    'POST /two-factor/end',
    'POST /two-factor/backup-codes',
    'GET /passkeys',
    'POST /passkeys/options',
    'POST /passkeys',
    'POST /passkeys/:passkey/delete',
    'POST /confirm',
    'POST /confirm/passkey-options',
    'POST /confirm/passkey',
  ],
  'A setting of the member, on the profile page': ['POST /organizations/:organization/digest'],
  'It suppresses all users of a filter, on the users page. Use suppressions add or suppressions import': [
    'POST /projects/:project/users/suppress',
  ],
};

export const NO_COMMAND = new Map<RouteKey, string>(
  Object.entries(REASONS).flatMap(([reason, routes]) =>
    routes.map((route): [RouteKey, string] => [route, reason]),
  ),
);
