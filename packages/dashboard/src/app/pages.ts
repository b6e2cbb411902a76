import { LIST_SORTS } from '@beckon/contract/dashboard';
import { createRoute, redirect } from '@tanstack/react-router';
import { flag, oneOf, text, whole } from '../parts/search.ts';
import { lazyPage, outsidePage, projectPage, projectRoute } from './roots.tsx';
import { startRoute } from './start.tsx';

/** The selected view of a draft. */
const pane = oneOf('desktop', 'mobile', 'dark', 'text', 'headers', 'checks');

/** `/settings` opens its first page. */
const settingsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'settings',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/p/$project/settings/sender', params, replace: true });
  },
});

/** The pages of a project: the path, the search parameters, and the screen, which is loaded when the page is opened. */
export const inProject = [
  settingsRoute,
  projectPage(
    'home',
    { range: text, metric: text },
    lazyPage(() => import('../screens/home/home-screen.tsx'), 'HomeScreen'),
  ),
  projectPage(
    'review',
    { filter: text, draft: text, pane, view: oneOf('decided') },
    lazyPage(() => import('../screens/review/review-screen.tsx'), 'ReviewScreen'),
  ),
  /** One draft on its own page, in any state. */
  projectPage(
    'drafts/$draft',
    { tab: oneOf('preview', 'edit', 'diff', 'why', 'history'), pane },
    lazyPage(() => import('../screens/review/draft-screen.tsx'), 'DraftScreen'),
  ),
  projectPage(
    'schedule',
    { hour: text, show: oneOf('held', 'expires'), zone: text, try: flag },
    lazyPage(() => import('../screens/schedule/schedule-screen.tsx'), 'ScheduleScreen'),
  ),
  projectPage(
    'activity',
    { filter: text, item: text },
    lazyPage(() => import('../screens/live/live-screen.tsx'), 'LiveScreen'),
  ),
  projectPage(
    'users',
    { filter: text, user: text, sort: oneOf(...LIST_SORTS.users) },
    lazyPage(() => import('../screens/people/users-screen.tsx'), 'UsersScreen'),
  ),
  projectPage(
    'users/$user',
    { at: text, tab: text },
    lazyPage(() => import('../screens/people/user-screen.tsx'), 'UserScreen'),
  ),
  projectPage(
    'audiences',
    { filter: text, audience: text, sort: oneOf(...LIST_SORTS.audiences) },
    lazyPage(() => import('../screens/audiences/audiences-screen.tsx'), 'AudiencesScreen'),
  ),
  /** `new`: a new audience. */
  projectPage(
    'audiences/$audience',
    { tab: text, user: text, filter: text },
    lazyPage(() => import('../screens/audiences/audience-screen.tsx'), 'AudienceScreen'),
  ),
  projectPage(
    'events',
    { filter: text, event: text, sort: oneOf(...LIST_SORTS.events) },
    lazyPage(() => import('../screens/events/events-screen.tsx'), 'EventsScreen'),
  ),
  projectPage(
    'rules',
    { filter: text, sort: oneOf(...LIST_SORTS.rules) },
    lazyPage(() => import('../screens/rules/rules-screen.tsx'), 'RulesScreen'),
  ),
  projectPage(
    'rules/$rule',
    { tab: text, view: oneOf('flow', 'form', 'json'), event: text, filter: text },
    lazyPage(() => import('../screens/rules/rule-screen.tsx'), 'RuleScreen'),
  ),
  projectPage(
    'templates',
    { filter: text },
    lazyPage(() => import('../screens/templates/templates-screen.tsx'), 'TemplatesScreen'),
  ),
  projectPage(
    'templates/$template',
    { tab: text, user: text, at: text },
    lazyPage(() => import('../screens/templates/template-screen.tsx'), 'TemplateScreen'),
  ),
  projectPage(
    'emails',
    { filter: text, message: text, sort: oneOf(...LIST_SORTS.emails) },
    lazyPage(() => import('../screens/emails/emails-screen.tsx'), 'EmailsScreen'),
  ),
  projectPage(
    'emails/$message',
    { tab: text },
    lazyPage(() => import('../screens/emails/email-screen.tsx'), 'EmailScreen'),
  ),
  projectPage(
    'test-inbox',
    { filter: text },
    lazyPage(() => import('../screens/test-inbox/test-inbox-screen.tsx'), 'TestInboxScreen'),
  ),
  projectPage(
    'test-inbox/$message',
    { tab: text, copy: whole },
    lazyPage(() => import('../screens/test-inbox/kept-mail-screen.tsx'), 'KeptMailScreen'),
  ),
  projectPage(
    'replies',
    { filter: text, reply: text },
    lazyPage(() => import('../screens/replies/replies-screen.tsx'), 'RepliesScreen'),
  ),
  projectPage(
    'insights',
    { by: text, range: text, sort: text, compare: flag, metric: text, rule: text },
    lazyPage(() => import('../screens/insights/insights-screen.tsx'), 'InsightsScreen'),
  ),
  projectPage(
    'settings/api-keys',
    { filter: text },
    lazyPage(() => import('../screens/keys/keys-screen.tsx'), 'KeysScreen'),
  ),
  projectPage(
    'requests',
    { filter: text, request: text, sort: oneOf(...LIST_SORTS.requests) },
    lazyPage(() => import('../screens/requests/requests-screen.tsx'), 'RequestsScreen'),
  ),
  projectPage(
    'dead-letters',
    { filter: text },
    lazyPage(() => import('../screens/dead-letters/dead-letters-screen.tsx'), 'DeadLettersScreen'),
  ),
  projectPage(
    'webhooks',
    { filter: text },
    lazyPage(() => import('../screens/webhooks/webhooks-screen.tsx'), 'WebhooksScreen'),
  ),
  projectPage(
    'webhooks/$endpoint',
    { filter: text, delivery: text, sort: oneOf(...LIST_SORTS.deliveries) },
    lazyPage(() => import('../screens/webhooks/endpoint-screen.tsx'), 'EndpointScreen'),
  ),
  projectPage(
    'imports',
    { filter: text },
    lazyPage(() => import('../screens/imports/imports-screen.tsx'), 'ImportsScreen'),
  ),
  projectPage(
    'imports/$import',
    {},
    lazyPage(() => import('../screens/imports/import-screen.tsx'), 'ImportScreen'),
  ),
  projectPage(
    'settings/system',
    {},
    lazyPage(() => import('../screens/system/system-screen.tsx'), 'SystemScreen'),
  ),
  projectPage(
    'settings/domains',
    { filter: text },
    lazyPage(() => import('../screens/domains/domains-screen.tsx'), 'DomainsScreen'),
  ),
  projectPage(
    'settings/domains/$domain',
    {},
    lazyPage(() => import('../screens/domains/domain-screen.tsx'), 'DomainScreen'),
  ),
  projectPage(
    'settings/relays',
    {},
    lazyPage(() => import('../screens/relays/relays-screen.tsx'), 'RelaysScreen'),
  ),
  /** `new`: a new relay. */
  projectPage(
    'settings/relays/$relay',
    {},
    lazyPage(() => import('../screens/relays/relay-screen.tsx'), 'RelayScreen'),
  ),
  projectPage(
    'settings/reply-source',
    {},
    lazyPage(() => import('../screens/reply-source/reply-source-screen.tsx'), 'ReplySourceScreen'),
  ),
  projectPage(
    'settings/sandbox',
    {},
    lazyPage(() => import('../screens/sandbox/sandbox-screen.tsx'), 'SandboxScreen'),
  ),
  projectPage(
    'settings/sending-policy',
    {},
    lazyPage(() => import('../screens/policy/policy-screen.tsx'), 'PolicyScreen'),
  ),
  projectPage(
    'settings/sender',
    {},
    lazyPage(() => import('../screens/sender/sender-screen.tsx'), 'SenderScreen'),
  ),
  projectPage(
    'suppressions',
    { filter: text, tab: text, row: text, check: text, sort: oneOf(...LIST_SORTS.suppressions) },
    lazyPage(() => import('../screens/suppressions/suppressions-screen.tsx'), 'SuppressionsScreen'),
  ),
  projectPage(
    'settings/team',
    { filter: text },
    lazyPage(() => import('../screens/team/team-screen.tsx'), 'TeamScreen'),
  ),
  projectPage(
    'settings/audit',
    { filter: text, scope: oneOf('project', 'organization'), entry: text },
    lazyPage(() => import('../screens/audit/audit-screen.tsx'), 'AuditScreen'),
  ),
  projectPage(
    'settings/data',
    {},
    lazyPage(() => import('../screens/data/data-screen.tsx'), 'DataScreen'),
  ),
];

/** The pages outside of projects. */
export const outside = [
  startRoute,
  outsidePage(
    '/setup',
    { token: text },
    lazyPage(() => import('../screens/account/setup-screen.tsx'), 'SetupScreen'),
  ),
  outsidePage(
    '/sign-in',
    { next: text },
    lazyPage(() => import('../screens/account/sign-in-screen.tsx'), 'SignInScreen'),
  ),
  outsidePage(
    '/invite',
    { token: text },
    lazyPage(() => import('../screens/account/invite-screen.tsx'), 'InviteScreen'),
  ),
  outsidePage(
    '/reset',
    { token: text },
    lazyPage(() => import('../screens/account/reset-screen.tsx'), 'ResetScreen'),
  ),
  outsidePage(
    '/device',
    { code: text },
    lazyPage(() => import('../screens/account/device-screen.tsx'), 'DeviceScreen'),
  ),
  outsidePage(
    '/profile',
    {},
    lazyPage(() => import('../screens/account/profile-screen.tsx'), 'ProfileScreen'),
  ),
  outsidePage(
    '/projects',
    {},
    lazyPage(() => import('../screens/projects/projects-screen.tsx'), 'ProjectsScreen'),
  ),
];
