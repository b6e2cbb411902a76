import { createRouter } from '@tanstack/react-router';
import { audienceRoute, audiencesRoute } from '../screens/audiences/route.tsx';
import { auditRoute } from '../screens/audit/route.tsx';
import { dataRoute } from '../screens/data/route.tsx';
import { emailsRoute, emailRoute } from '../screens/emails/route.tsx';
import { domainsRoute } from '../screens/domains/route.tsx';
import { endpointRoute, webhooksRoute } from '../screens/webhooks/route.tsx';
import { eventsRoute } from '../screens/events/route.tsx';
import { homeRoute } from '../screens/home/route.tsx';
import { insightsRoute } from '../screens/insights/route.tsx';
import {
  deviceRoute,
  inviteRoute,
  profileRoute,
  resetRoute,
  setupRoute,
  signInRoute,
} from '../screens/account/route.tsx';
import { keptMailRoute, testInboxRoute } from '../screens/test-inbox/route.tsx';
import { importRoute, importsRoute } from '../screens/imports/route.tsx';
import { keysRoute } from '../screens/keys/route.tsx';
import { liveRoute } from '../screens/live/route.tsx';
import { policyRoute } from '../screens/policy/route.tsx';
import { projectsRoute } from '../screens/projects/route.tsx';
import { repliesRoute } from '../screens/replies/route.tsx';
import { requestsRoute } from '../screens/requests/route.tsx';
import { draftRoute, reviewRoute } from '../screens/review/route.tsx';
import { ruleRoute, rulesRoute } from '../screens/rules/route.tsx';
import { scheduleRoute } from '../screens/schedule/route.tsx';
import { senderRoute } from '../screens/sender/route.tsx';
import { sequenceRoute, sequencesRoute } from '../screens/sequences/route.tsx';
import { suppressionsRoute } from '../screens/suppressions/route.tsx';
import { systemRoute } from '../screens/system/route.tsx';
import { teamRoute } from '../screens/team/route.tsx';
import { templateRoute, templatesRoute } from '../screens/templates/route.tsx';
import { userRoute, usersRoute } from '../screens/people/route.tsx';
import { Broken } from './broken.tsx';
import { outsideRoute, projectRoute, rootRoute } from './roots.tsx';
import { startRoute } from './start.tsx';

const inProject = [
  homeRoute,
  reviewRoute,
  draftRoute,
  scheduleRoute,
  liveRoute,
  usersRoute,
  userRoute,
  audiencesRoute,
  audienceRoute,
  eventsRoute,
  rulesRoute,
  ruleRoute,
  sequencesRoute,
  sequenceRoute,
  templatesRoute,
  templateRoute,
  emailsRoute,
  emailRoute,
  testInboxRoute,
  keptMailRoute,
  repliesRoute,
  insightsRoute,
  keysRoute,
  requestsRoute,
  webhooksRoute,
  endpointRoute,
  importsRoute,
  importRoute,
  systemRoute,
  domainsRoute,
  policyRoute,
  senderRoute,
  suppressionsRoute,
  teamRoute,
  auditRoute,
  dataRoute,
];
const outside = [
  startRoute,
  setupRoute,
  signInRoute,
  inviteRoute,
  resetRoute,
  deviceRoute,
  profileRoute,
  projectsRoute,
];

/** A filter, a tab or a row in the URL does not change the scroll position. */
let isOtherPage = true;

export const router = createRouter({
  routeTree: rootRoute.addChildren([projectRoute.addChildren(inProject), outsideRoute.addChildren(outside)]),
  defaultPreload: 'intent',
  scrollRestoration: ({ location }) => isOtherPage || location.hash !== '',
  defaultErrorComponent: Broken,
});

router.subscribe('onBeforeLoad', ({ pathChanged, fromLocation }) => {
  isOtherPage = pathChanged || fromLocation === undefined;
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
