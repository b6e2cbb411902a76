import Fastify from 'fastify';
import PostalMime from 'postal-mime';
import { afterAll } from 'vitest';
import { idMaker } from '../../src/platform/ids.ts';
import { silentLog } from '../../src/platform/log.ts';
import { createTemplate } from '../../src/modules/templates/write-template.ts';
import { createTracker, type Tracker } from '../../src/modules/inbound/tracking/tracker.ts';
import { settleHits } from '../../src/modules/inbound/tracking/settle-hits.ts';
import { mountTracking } from '../../src/modules/inbound/tracking/routes.ts';
import { transportRules } from '../../src/platform/http/transport.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { HOUR } from '../factories/drafts.ts';
import { testRenderer, TOKEN_KEYS } from '../factories/send-services.ts';
import { newScenario, type Stage, type Scenario } from '../scenario.ts';

/** Serves the tracking URLs of emails over real HTTP, whatever host they name. */
export type TrackingServer = {
  tracker: Tracker;
  origin: string;
  /** Fetches as a browser would, from this address. Redirects are not followed. */
  get(address: string, as?: FetchOptions): Promise<Response>;
  /** Waits until every hit is stored. */
  written(): Promise<void>;
};

export type FetchOptions = {
  method?: string;
  agent?: string;
  remote?: string;
  headers?: Record<string, string>;
};

export const BROWSER =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';

export async function startTracking(db: Database, log = silentLog): Promise<TrackingServer> {
  const tracker = createTracker({ db, log });
  const app = Fastify({ logger: false, exposeHeadRoutes: true });
  const transport = transportRules({ publicUrl: 'http://localhost', trustProxy: ['127.0.0.1'] });
  mountTracking(app, { tracker, tokenKeys: TOKEN_KEYS, transport, clock: db.clock, log });
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  afterAll(() => app.close());
  return {
    tracker,
    origin,
    get(address, { method = 'GET', agent = BROWSER, remote = '192.0.2.1', headers = {} } = {}) {
      const { pathname } = new URL(address);
      return fetch(origin + pathname, {
        method,
        redirect: 'manual',
        headers: { 'User-Agent': agent, 'X-Forwarded-For': remote, ...headers },
      });
    },
    written: () => tracker.close(),
  };
}

/** Moves time forward until every hit is classified. */
export async function settleAll(
  { server: { db, clock } }: Stage,
  fetching: TrackingServer[],
  afterMs = 10_000,
): Promise<void> {
  for (const server of fetching) await server.written();
  clock.advance(afterMs);
  const deps = { db, newId: idMaker(db.clock), log: silentLog };
  while ((await settleHits(deps)).emails > 0);
}

export type ReadEmail = {
  html: string;
  text: string;
  /** Its links in order, except those about the email itself. */
  links: string[];
  trap: string | null;
  pixel: string | null;
};

async function readEmail(mime: Uint8Array | string): Promise<ReadEmail> {
  const { html = '', text = '' } = await PostalMime.parse(mime);
  const hrefs = Array.from(html.matchAll(/<a\b[^>]*href="([^"]*)"([^>]*)>/g), ([, href = '', rest = '']) => ({
    href: href.replaceAll('&amp;', '&'),
    isHidden: rest.includes('aria-hidden'),
  }));
  return {
    html,
    text,
    links: hrefs.filter(({ href, isHidden }) => !isHidden && !href.includes('/u/')).map(({ href }) => href),
    trap: hrefs.find(({ isHidden }) => isHidden)?.href ?? null,
    pixel: /<img src="([^"]*\/o\/[^"]*)"/.exec(html)?.[1] ?? null,
  };
}

export type TrackedEmail = ReadEmail & {
  scenario: Scenario;
  emailId: string;
  pixel: string;
  /** Returns hits as `kind verdict reason`, in order. */
  hits(): Promise<string[]>;
  /** Returns the number of hits, kept or not. */
  count(): Promise<number>;
  /** Returns outcomes as `type link class`. */
  outcomes(): Promise<string[]>;
};

export type TrackedEmailInput = {
  settings?: Record<string, string>;
  rule?: Record<string, unknown>;
  template?: { format: string; body: string };
};

const TEMPLATE = {
  format: 'markdown',
  body: `Hello [the guide](https://acme.test/guide?a=1&b=2), [the plan](https://acme.test/plan),
[the list](https://acme.test/list) and [us](mailto:help@acme.test).`,
};

/** Creates an email that was sent an hour ago, in a project of its own. */
export async function sendTracked(
  stage: Stage,
  { settings = {}, rule = {}, template = TEMPLATE }: TrackedEmailInput = {},
): Promise<TrackedEmail> {
  const { db, clock } = stage.server;
  const scenario = await newScenario(stage);
  const { projectId } = scenario;
  await scenario.set({
    autopilot: '1h',
    quiet_hours: 'off',
    frequency_cap: 'off',
    throttle: 'off',
    ...settings,
  });
  const document = { name: 'note', subject: 'A note', ...template };
  await createTemplate({ db, renderer: testRenderer }, { projectId, document, follow: true, actor: 'ann' });
  await scenario.rule({ name: 'note', when: { event: 'hello' }, steps: [{ draft: 'note' }], ...rule });
  await scenario.user('ada', { email: 'ada@x.test' });
  await scenario.event('ada', 'hello');
  await scenario.later(HOUR);
  const email = stage.engine.transport.emails.findLast((candidate) => candidate.projectId === projectId);
  if (!email) throw new Error('nothing left');
  clock.advance(HOUR);
  const of = [projectId, email.emailId];
  const read = await readEmail(email.mime);
  const lines = async (text: string): Promise<string[]> =>
    (await db.query<{ line: string }>(text, of)).map(({ line }) => line);
  return {
    ...read,
    pixel: read.pixel ?? '',
    scenario,
    emailId: email.emailId,
    hits: () =>
      lines(`SELECT concat_ws(' ', kind, coalesce(bot, '?'), coalesce(bot_reason, '-')) AS line FROM beckon.hit
             WHERE project_id = $1 AND email_id = $2 ORDER BY number`),
    outcomes: () =>
      lines(`SELECT concat_ws(' ', substr(type, 7), link, class) AS line FROM beckon.outcome
             WHERE project_id = $1 AND email_id = $2 ORDER BY 1`),
    count: async () => {
      const [hits] = await lines(
        `SELECT hits::text AS line FROM beckon.hit_count WHERE project_id = $1 AND email_id = $2`,
      );
      return Number(hits ?? 0);
    },
  };
}
