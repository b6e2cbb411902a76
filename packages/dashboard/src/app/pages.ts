import { LIST_SORTS } from '@beckon/contract/dashboard';
import { createRoute, lazyRouteComponent as lazy, redirect } from '@tanstack/react-router';
import { flag, oneOf, text, whole } from '../parts/search.ts';
import { outsidePage, projectPage, projectRoute } from './roots.tsx';
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
    lazy(() => import('../screens/home/home-screen.tsx'), 'HomeScreen'),
  ),
  projectPage(
    'review',
    { filter: text, draft: text, pane, view: oneOf('decided') },
    lazy(() => import('../screens/review/review-screen.tsx'), 'ReviewScreen'),
  ),
  /** One draft on its own page, in any state. */
  projectPage(
    'drafts/$draft',
    { tab: oneOf('preview', 'edit', 'diff', 'why', 'history'), pane },
    lazy(() => import('../screens/review/draft-screen.tsx'), 'DraftScreen'),
  ),
  projectPage(
    'schedule',
    { hour: text, show: oneOf('held', 'expires'), zone: text, try: flag },
    lazy(() => import('../screens/schedule/schedule-screen.tsx'), 'ScheduleScreen'),
  ),
  projectPage(
    'activity',
    { filter: text, item: text },
    lazy(() => import('../screens/live/live-screen.tsx'), 'LiveScreen'),
  ),
  projectPage(
    'users',
    { filter: text, user: text, sort: oneOf(...LIST_SORTS.users) },
    lazy(() => import('../screens/people/users-screen.tsx'), 'UsersScreen'),
  ),
  projectPage(
    'users/$user',
    { at: text, tab: text },
    lazy(() => import('../screens/people/user-screen.tsx'), 'UserScreen'),
  ),
  projectPage(
    'audiences',
    { filter: text, audience: text, sort: oneOf(...LIST_SORTS.audiences) },
    lazy(() => import('../screens/audiences/audiences-screen.tsx'), 'AudiencesScreen'),
  ),
  /** `new`: a new audience. */
  projectPage(
    'audiences/$audience',
    { tab: text, user: text, filter: text },
    lazy(() => import('../screens/audiences/audience-screen.tsx'), 'AudienceScreen'),
  ),
  projectPage(
    'events',
    { filter: text, event: text, sort: oneOf(...LIST_SORTS.events) },
    lazy(() => import('../screens/events/events-screen.tsx'), 'EventsScreen'),
  ),
  projectPage(
    'rules',
    { filter: text, sort: oneOf(...LIST_SORTS.rules) },
    lazy(() => import('../screens/rules/rules-screen.tsx'), 'RulesScreen'),
  ),
  projectPage(
    'rules/$rule',
    { tab: text, view: oneOf('flow', 'form', 'json'), event: text, filter: text },
    lazy(() => import('../screens/rules/rule-screen.tsx'), 'RuleScreen'),
  ),
  projectPage(
    'templates',
    { filter: text },
    lazy(() => import('../screens/templates/templates-screen.tsx'), 'TemplatesScreen'),
  ),
  projectPage(
    'templates/$template',
    { tab: text, user: text, at: text },
    lazy(() => import('../screens/templates/template-screen.tsx'), 'TemplateScreen'),
  ),
  projectPage(
    'emails',
    { filter: text, message: text, sort: oneOf(...LIST_SORTS.emails) },
    lazy(() => import('../screens/emails/emails-screen.tsx'), 'EmailsScreen'),
  ),
  projectPage(
    'emails/$message',
    { tab: text },
    lazy(() => import('../screens/emails/email-screen.tsx'), 'EmailScreen'),
  ),
  projectPage(
    'test-inbox',
    { filter: text },
    lazy(() => import('../screens/test-inbox/test-inbox-screen.tsx'), 'TestInboxScreen'),
  ),
  projectPage(
    'test-inbox/$message',
    { tab: text, copy: whole },
    lazy(() => import('../screens/test-inbox/kept-mail-screen.tsx'), 'KeptMailScreen'),
  ),
  projectPage(
    'replies',
    { filter: text, reply: text },
    lazy(() => import('../screens/replies/replies-screen.tsx'), 'RepliesScreen'),
  ),
  projectPage(
    'insights',
    { by: text, range: text, sort: text, compare: flag, metric: text, rule: text },
    lazy(() => import('../screens/insights/insights-screen.tsx'), 'InsightsScreen'),
  ),
  projectPage(
    'settings/api-keys',
    { filter: text },
    lazy(() => import('../screens/keys/keys-screen.tsx'), 'KeysScreen'),
  ),
  projectPage(
    'requests',
    { filter: text, request: text, sort: oneOf(...LIST_SORTS.requests) },
    lazy(() => import('../screens/requests/requests-screen.tsx'), 'RequestsScreen'),
  ),
  projectPage(
    'dead-letters',
    { filter: text },
    lazy(() => import('../screens/dead-letters/dead-letters-screen.tsx'), 'DeadLettersScreen'),
  ),
  projectPage(
    'webhooks',
    { filter: text },
    lazy(() => import('../screens/webhooks/webhooks-screen.tsx'), 'WebhooksScreen'),
  ),
  projectPage(
    'webhooks/$endpoint',
    { filter: text, delivery: text, sort: oneOf(...LIST_SORTS.deliveries) },
    lazy(() => import('../screens/webhooks/endpoint-screen.tsx'), 'EndpointScreen'),
  ),
  projectPage(
    'imports',
    { filter: text },
    lazy(() => import('../screens/imports/imports-screen.tsx'), 'ImportsScreen'),
  ),
  projectPage(
    'imports/$import',
    {},
    lazy(() => import('../screens/imports/import-screen.tsx'), 'ImportScreen'),
  ),
  projectPage(
    'settings/system',
    {},
    lazy(() => import('../screens/system/system-screen.tsx'), 'SystemScreen'),
  ),
  projectPage(
    'settings/domains',
    { filter: text },
    lazy(() => import('../screens/domains/domains-screen.tsx'), 'DomainsScreen'),
  ),
  projectPage(
    'settings/domains/$domain',
    {},
    lazy(() => import('../screens/domains/domain-screen.tsx'), 'DomainScreen'),
  ),
  projectPage(
    'settings/relays',
    {},
    lazy(() => import('../screens/relays/relays-screen.tsx'), 'RelaysScreen'),
  ),
  /** `new`: a new relay. */
  projectPage(
    'settings/relays/$relay',
    {},
    lazy(() => import('../screens/relays/relay-screen.tsx'), 'RelayScreen'),
  ),
  projectPage(
    'settings/reply-source',
    {},
    lazy(() => import('../screens/reply-source/reply-source-screen.tsx'), 'ReplySourceScreen'),
  ),
  projectPage(
    'settings/sandbox',
    {},
    lazy(() => import('../screens/sandbox/sandbox-screen.tsx'), 'SandboxScreen'),
  ),
  projectPage(
    'settings/sending-policy',
    {},
    lazy(() => import('../screens/policy/policy-screen.tsx'), 'PolicyScreen'),
  ),
  projectPage(
    'settings/sender',
    {},
    lazy(() => import('../screens/sender/sender-screen.tsx'), 'SenderScreen'),
  ),
  projectPage(
    'suppressions',
    { filter: text, tab: text, row: text, check: text, sort: oneOf(...LIST_SORTS.suppressions) },
    lazy(() => import('../screens/suppressions/suppressions-screen.tsx'), 'SuppressionsScreen'),
  ),
  projectPage(
    'settings/team',
    { filter: text },
    lazy(() => import('../screens/team/team-screen.tsx'), 'TeamScreen'),
  ),
  projectPage(
    'settings/audit',
    { filter: text, scope: oneOf('project', 'organization'), entry: text },
    lazy(() => import('../screens/audit/audit-screen.tsx'), 'AuditScreen'),
  ),
  projectPage(
    'settings/data',
    {},
    lazy(() => import('../screens/data/data-screen.tsx'), 'DataScreen'),
  ),
];

/** The pages outside of projects. */
export const outside = [
  startRoute,
  outsidePage(
    '/setup',
    { token: text },
    lazy(() => import('../screens/account/setup-screen.tsx'), 'SetupScreen'),
  ),
  outsidePage(
    '/sign-in',
    { next: text },
    lazy(() => import('../screens/account/sign-in-screen.tsx'), 'SignInScreen'),
  ),
  outsidePage(
    '/invite',
    { token: text },
    lazy(() => import('../screens/account/invite-screen.tsx'), 'InviteScreen'),
  ),
  outsidePage(
    '/reset',
    { token: text },
    lazy(() => import('../screens/account/reset-screen.tsx'), 'ResetScreen'),
  ),
  outsidePage(
    '/device',
    { code: text },
    lazy(() => import('../screens/account/device-screen.tsx'), 'DeviceScreen'),
  ),
  outsidePage(
    '/profile',
    {},
    lazy(() => import('../screens/account/profile-screen.tsx'), 'ProfileScreen'),
  ),
  outsidePage(
    '/projects',
    {},
    lazy(() => import('../screens/projects/projects-screen.tsx'), 'ProjectsScreen'),
  ),
];
