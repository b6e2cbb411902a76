import Fastify from 'fastify';
import type { Role } from '@beckon/contract/dashboard';
import { idMaker } from '../../src/platform/ids.ts';
import { silentLog } from '../../src/platform/log.ts';
import type { Access } from '../../src/modules/workspace/members/team.ts';
import { createModels } from '../../src/modules/rules/project-model.ts';
import { listRuleNeeds } from '../../src/modules/rules/runs/rules-in-force.ts';
import { createAccountEmails } from '../../src/modules/delivery/team-email.ts';
import { createBacktestSlots } from '../../src/modules/rules/backtest/backtest.ts';
import { createDashboardApi } from '../../src/modules/workspace/dashboard-api/mount.ts';
import { createFeeds } from '../../src/modules/workspace/dashboard-api/feeds.ts';
import { DASHBOARD_ROUTES, type DashboardDeps } from '../../src/main/dashboard-routes.ts';
import { transportRules } from '../../src/platform/http/transport.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { testMail } from '../factories/send-services.ts';
import { PEPPER } from './server.ts';

/** The body of a JSON response. `T` is the type that the test expects of its data. */
export type Json<T> = {
  data: T;
  meta: {
    pagination: { total: number; offset: number; limit: number };
    cursor: string | null;
    at_least?: true;
  };
  errors: { code: string; message: string; field?: string }[];
};
export type Reply<T> = { status: number; json: Json<T>; text: string; headers: Record<string, unknown> };

/**
 * The dashboard's API over a database, called as a member with a role, without signing in. It tests what a route does. The tests of the
 * team prove that access requires a sign-in.
 */
export type TestDashboard = {
  /** Sends `GET /projects/1/drafts`. `as` is the role: owner by default, null for a request without a session. */
  request<T = unknown>(what: string, options?: DashboardRequestOptions): Promise<Reply<T>>;
  url(): Promise<string>;
  close(): Promise<void>;
};

/** A header that is undefined is omitted. */
export type DashboardRequestOptions = {
  body?: unknown;
  as?: Role | null;
  headers?: Record<string, string | undefined>;
};

export const DASHBOARD_ORIGIN = 'http://localhost:8080';

/** `isLocalShell`: serves it as the local socket does. */
type TestDashboardOptions = Partial<DashboardDeps> & { isLocalShell?: boolean };

export function testDashboard(
  db: Database,
  { isLocalShell = false, ...more }: TestDashboardOptions = {},
  routes = DASHBOARD_ROUTES,
): TestDashboard {
  const app = Fastify({ logger: false, routerOptions: { maxParamLength: 1_024 } });
  const mail = testMail();
  const { sendServices, openRelay, tokenKeys } = { ...mail, ...more };
  const newId = idMaker(db.clock);
  const api = createDashboardApi(
    {
      db,
      newId,
      log: silentLog,
      access: roleOfHeader(db),
      team: { ...roleOfHeader(db), ...NO_SIGN_INS },
      wake: () => {},
      models: createModels(db.clock),
      listRuleNeeds,
      pepper: { current: PEPPER, previous: null },
      transport: transportRules({ publicUrl: DASHBOARD_ORIGIN, trustProxy: [] }),
      release: { version: '0.0.0', node: process.version },
      installation: { publicUrl: DASHBOARD_ORIGIN, relay: null, mailFrom: null, hasModel: false },
      minimumVersions: new Map(),
      feeds: createFeeds(),
      backtests: createBacktestSlots(),
      accountEmails: createAccountEmails({
        db,
        openRelay: openRelay,
        outlet: sendServices.outlet,
        mailFrom: null,
        tokenKeys,
        newId,
        log: silentLog,
      }),
      ...mail,
      ...more,
    },
    routes,
  );
  if (isLocalShell) api.mountForLocalShell(app);
  else api.mount(app);
  return {
    async request<T>(
      what: string,
      { body, as = 'owner', headers = {} }: DashboardRequestOptions = {},
    ): Promise<Reply<T>> {
      const [method = 'GET', url = ''] = what.split(' ');
      const all = { origin: DASHBOARD_ORIGIN, ...(as === null ? {} : { 'x-test-role': as }), ...headers };
      const response = await app.inject({
        method: method as 'GET',
        url: `/api/dashboard${url}`,
        headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
        ...(body === undefined ? {} : { payload: body as object }),
      });
      const text = response.body;
      const isJson = String(response.headers['content-type']).includes('application/json');
      return {
        status: response.statusCode,
        text,
        json: isJson ? JSON.parse(text) : null,
        headers: response.headers,
      };
    },
    url: () => app.listen({ host: '127.0.0.1', port: 0 }),
    close: () => app.close(),
  };
}

/** Sign-ins are tested by the tests of the team. */
const NO_SIGN_INS = {
  signIns: (): Promise<never> => Promise.reject(new Error('this test has no sign-ins')),
  close: async (): Promise<void> => {},
};

/** Grants Ada the role that the request names, in every project. */
function roleOfHeader(db: Database): Access {
  return {
    findMember: async (headers) => {
      const role = headers['x-test-role'];
      if (typeof role !== 'string') return null;
      return { id: role, name: 'Ada', email: 'ada@x.org', sessionId: 's', confirmedAt: null };
    },
    roleIn: async (personId, projectId) => {
      const [project] = await db.query('SELECT 1 FROM beckon.project WHERE project_id = $1', [projectId]);
      return project ? (personId as Role) : null;
    },
    rolesOf: async (personId) => {
      const rows = await db.query<{ id: number }>('SELECT project_id AS id FROM beckon.project');
      return new Map(rows.map(({ id }) => [id, personId as Role]));
    },
    organizationsOf: async () => [],
    organizationsToMakeIn: async () => [{ id: 'org', name: 'Org' }],
    namesOf: async (actors) => new Map(actors.map((actor) => [actor, 'Ada'])),
  };
}
