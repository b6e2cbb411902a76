import { describe, expect, test } from 'vitest';
import { DASHBOARD_ROUTES } from '../../../main/dashboard-routes.ts';
import { costOf, heavyFields } from './request-gate.ts';

const withFields = (fields: readonly string[]): Record<string, string> =>
  Object.fromEntries(fields.map((name) => [name, 'typed']));

describe('request cost', () => {
  test('makes each route with a filter, a definition or a range heavy when one is set', () => {
    const searched = DASHBOARD_ROUTES.filter((route) => heavyFields(route).length > 0);
    for (const route of searched) {
      for (const field of heavyFields(route)) {
        const input = withFields([field]);
        const cost = [
          costOf(route)({ query: input, body: undefined }),
          costOf(route)({ query: {}, body: input }),
        ];
        expect(cost, `${route.key} ${field}`).toEqual(['heavy', 'heavy']);
      }
    }
    // A route belongs on this list only if its cost depends on typed input; check that before adding one.
    expect(searched.map((route) => `${route.key} ${heavyFields(route).join(',')}`).toSorted()).toEqual(
      SEARCHED,
    );
  });

  test('makes a route heavy that counts, aggregates or exports as many rows as a project has', () => {
    const heavy = DASHBOARD_ROUTES.filter(({ isHeavy }) => isHeavy === true).map(({ key }) => key);
    expect(heavy.toSorted()).toEqual(OF_MANY_ROWS);
  });

  test('keeps a route of lists light without any of them', () => {
    for (const route of DASHBOARD_ROUTES.filter(({ isHeavy }) => isHeavy !== true)) {
      const page = { cursor: 'x', limit: 50, offset: 0, filter: '' };
      expect(costOf(route)({ query: page, body: undefined }), route.key).toBe('light');
    }
  });

  test('gives an email with its images a queue of its own', () => {
    const framed = DASHBOARD_ROUTES.filter(({ key }) => key.endsWith('/email.html'));
    expect(framed).toHaveLength(4);
    for (const route of framed) {
      expect(costOf(route)({ query: { images: 'show' }, body: undefined })).toBe('images');
      expect(costOf(route)({ query: { images: 'hide' }, body: undefined })).toBe('light');
    }
  });

  test('queues a streamed response by statement, and lets backtests limit themselves', () => {
    const slots = DASHBOARD_ROUTES.flatMap(({ key, slot }) => (slot ? [`${key} ${slot}`] : []));
    expect(slots.toSorted()).toEqual([
      'GET /projects/:project/audiences.csv statement',
      'GET /projects/:project/audiences/:audience/members.csv statement',
      'GET /projects/:project/audit.csv statement',
      'GET /projects/:project/dead-letters.csv statement',
      'GET /projects/:project/domains.csv statement',
      'GET /projects/:project/drafts.csv statement',
      'GET /projects/:project/emails/export statement',
      'GET /projects/:project/events.csv statement',
      'GET /projects/:project/feed statement',
      'GET /projects/:project/imports.csv statement',
      'GET /projects/:project/imports/:import/rejected.csv statement',
      'GET /projects/:project/keys.csv statement',
      'GET /projects/:project/members.csv statement',
      'GET /projects/:project/replies.csv statement',
      'GET /projects/:project/requests.csv statement',
      'GET /projects/:project/review/decided.csv statement',
      'GET /projects/:project/rules.csv statement',
      'GET /projects/:project/rules/:rule/runs.csv statement',
      'GET /projects/:project/stream-export statement',
      'GET /projects/:project/suppressions.csv statement',
      'GET /projects/:project/suppressions/export statement',
      'GET /projects/:project/suppressions/topics.csv statement',
      'GET /projects/:project/templates.csv statement',
      'GET /projects/:project/test-inbox.csv statement',
      'GET /projects/:project/users.csv statement',
      'GET /projects/:project/users/:user/export statement',
      'GET /projects/:project/webhook-deliveries.csv statement',
      'GET /projects/:project/webhooks.csv statement',
      'POST /projects/:project/rules/backtest own',
    ]);
  });
});

/** Emergency controls (pause, switch a rule, change its mode) are light, so that a full queue never refuses them. */
const OF_MANY_ROWS = [
  'GET /projects/:project/audiences.csv',
  'GET /projects/:project/audiences/:audience/members.csv',
  'GET /projects/:project/audit.csv',
  'GET /projects/:project/dead-letters.csv',
  'GET /projects/:project/domains.csv',
  'GET /projects/:project/drafts.csv',
  'GET /projects/:project/emails/export',
  'GET /projects/:project/erasures',
  'GET /projects/:project/events.csv',
  'GET /projects/:project/imports.csv',
  'GET /projects/:project/imports/:import/rejected.csv',
  'GET /projects/:project/insights',
  'GET /projects/:project/insights/days',
  'GET /projects/:project/insights/export',
  'GET /projects/:project/keys.csv',
  'GET /projects/:project/members.csv',
  'GET /projects/:project/pause',
  'GET /projects/:project/policy/simulate',
  'GET /projects/:project/replies.csv',
  'GET /projects/:project/requests.csv',
  'GET /projects/:project/resume',
  'GET /projects/:project/review/decided.csv',
  'GET /projects/:project/rules',
  'GET /projects/:project/rules.csv',
  'GET /projects/:project/rules/:rule',
  'GET /projects/:project/rules/:rule/enrollment',
  'GET /projects/:project/rules/:rule/flow',
  'GET /projects/:project/rules/:rule/move-waiting',
  'GET /projects/:project/rules/:rule/results',
  'GET /projects/:project/rules/:rule/runs',
  'GET /projects/:project/rules/:rule/runs.csv',
  'GET /projects/:project/rules/:rule/switch',
  'GET /projects/:project/rules/:rule/versions',
  'GET /projects/:project/schedule',
  'GET /projects/:project/schedule/drafts',
  'GET /projects/:project/stream-export',
  'GET /projects/:project/support-bundle',
  'GET /projects/:project/suppressions.csv',
  'GET /projects/:project/suppressions/export',
  'GET /projects/:project/suppressions/topics.csv',
  'GET /projects/:project/system',
  'GET /projects/:project/templates.csv',
  'GET /projects/:project/test-inbox.csv',
  'GET /projects/:project/test-inbox/state',
  'GET /projects/:project/users.csv',
  'GET /projects/:project/users/:user/at',
  'GET /projects/:project/users/:user/export',
  'GET /projects/:project/users/:user/next-email',
  'GET /projects/:project/users/:user/why',
  'GET /projects/:project/webhook-deliveries.csv',
  'GET /projects/:project/webhooks.csv',
  'GET /queue',
  'POST /projects/:project/relays/:relay/suppressions',
  'POST /projects/:project/resume',
  'POST /projects/:project/rules/:rule/duplicate',
  'POST /projects/:project/rules/:rule/enrollment',
  'POST /projects/:project/rules/:rule/move-waiting',
  'POST /projects/:project/rules/:rule/reorder',
  'POST /projects/:project/rules/backtest',
  'POST /projects/:project/suppressions/import',
  'POST /projects/:project/suppressions/preview-import',
  'POST /projects/:project/users/:user/erase',
  'POST /projects/:project/webhook-replays',
];

const SEARCHED = [
  'GET /projects/:project/audiences filter',
  'GET /projects/:project/audiences.csv filter',
  'GET /projects/:project/audiences/:audience/members filter',
  'GET /projects/:project/audiences/:audience/members.csv filter',
  'GET /projects/:project/audit actor,action,scope,filter',
  'GET /projects/:project/audit.csv actor,action,scope,filter',
  'GET /projects/:project/dead-letters filter',
  'GET /projects/:project/dead-letters.csv filter',
  'GET /projects/:project/domains filter',
  'GET /projects/:project/domains.csv filter',
  'GET /projects/:project/drafts filter',
  'GET /projects/:project/drafts.csv filter',
  'GET /projects/:project/drafts/counts filter',
  'GET /projects/:project/emails filter',
  'GET /projects/:project/emails/export filter',
  'GET /projects/:project/events filter',
  'GET /projects/:project/events.csv filter',
  'GET /projects/:project/feed filter',
  'GET /projects/:project/filter-values of,text',
  'GET /projects/:project/imports filter',
  'GET /projects/:project/imports.csv filter',
  'GET /projects/:project/imports/:import/findings kind',
  'GET /projects/:project/insights by,days,since,until,compare',
  'GET /projects/:project/insights/days days,compare,rules',
  'GET /projects/:project/insights/export by,days,since,until',
  'GET /projects/:project/keys filter',
  'GET /projects/:project/keys.csv filter',
  'GET /projects/:project/members filter',
  'GET /projects/:project/members.csv filter',
  'GET /projects/:project/policy/simulate quiet_hours,frequency_cap,throttle,time_zone,paused,autopilot',
  'GET /projects/:project/replies filter',
  'GET /projects/:project/replies.csv filter',
  'GET /projects/:project/requests filter',
  'GET /projects/:project/requests.csv filter',
  'GET /projects/:project/review/decided filter',
  'GET /projects/:project/review/decided.csv filter',
  'GET /projects/:project/rules filter',
  'GET /projects/:project/rules.csv filter',
  'GET /projects/:project/rules/:rule/flow days',
  'GET /projects/:project/rules/:rule/results days',
  'GET /projects/:project/rules/:rule/runs version,step,filter',
  'GET /projects/:project/rules/:rule/runs.csv filter',
  'GET /projects/:project/schedule/drafts from,to,result',
  'GET /projects/:project/search text',
  'GET /projects/:project/stream filter,since',
  'GET /projects/:project/stream-export filter,since',
  'GET /projects/:project/suppressions filter',
  'GET /projects/:project/suppressions.csv filter',
  'GET /projects/:project/suppressions/topics filter',
  'GET /projects/:project/suppressions/topics.csv filter',
  'GET /projects/:project/templates filter',
  'GET /projects/:project/templates.csv filter',
  'GET /projects/:project/test-inbox filter',
  'GET /projects/:project/test-inbox.csv filter',
  'GET /projects/:project/users filter',
  'GET /projects/:project/users.csv filter',
  'GET /projects/:project/users/:user/timeline kinds',
  'GET /projects/:project/users/:user/why rule',
  'GET /projects/:project/webhook-deliveries endpoint,message,state,filter',
  'GET /projects/:project/webhook-deliveries.csv endpoint,filter',
  'GET /projects/:project/webhooks filter',
  'GET /projects/:project/webhooks.csv filter',
  'PATCH /projects/:project/audiences/:audience definition',
  'POST /projects/:project/audiences definition',
  'POST /projects/:project/audiences/preview definition',
  'POST /projects/:project/audiences/sentence definition',
  'POST /projects/:project/drafts/bulk filter',
  'POST /projects/:project/drafts/bulk/preview filter',
  'POST /projects/:project/rules document',
  'POST /projects/:project/rules/backtest document',
  'POST /projects/:project/rules/check document',
  'POST /projects/:project/views filter',
  'PUT /projects/:project/rules/:rule document',
];
