/**
 * Kills a worker repeatedly while outcomes are recorded, and now and then also the process that receives hits. At the end the journal of
 * the receiving server is compared with the database.
 */

import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { WebhookType } from '@beckon/contract';
import { openEmbedded } from '@beckon/postgres';
import { PRODUCT } from '../../src/main/product.ts';
import { systemClock } from '../../src/platform/time/clock.ts';
import { deriveKey, sha256 } from '../../src/platform/crypto/hash.ts';
import { idMaker } from '../../src/platform/ids.ts';
import { emailToken, type EmailName, type TokenKeys } from '../../src/platform/crypto/email-token.ts';
import { silentLog } from '../../src/platform/log.ts';
import { createEncrypter } from '../../src/platform/crypto/encrypt.ts';
import type { ReportedOutcome, OutcomeData } from '../../src/modules/outcomes/outcome.ts';
import { createProject } from '../../src/modules/administration/create-project.ts';
import { recordOutcomes } from '../../src/modules/outcomes/record/record-outcomes.ts';
import { setSettings } from '../../src/modules/administration/set-settings.ts';
import { addEndpoint } from '../../src/modules/webhooks/endpoints/change-endpoint.ts';
import { type Database, openDatabase } from '../../src/platform/db/database.ts';
import { type HookJournal, hookJournal, type Posted } from '../servers/hook-journal.ts';
import { letFallDue, writeEmails } from './mail-survival.ts';
import { survivor, type Survivor } from './survival.ts';
import { examineWebhooks, type WebhookFindings } from './webhook-findings.ts';

export type WebhookOrdeal = { kills: number; apiKills: number };
export type WebhookKillResult = WebhookFindings & {
  kills: number;
  /** Requests that were under way when their worker was killed. `killsInFlight` counts the kills with such a request. */
  inFlight: number;
  killsInFlight: number;
  apiKills: number;
  /** Tracking pixels that were answered. */
  hits: number;
};

const SECRET = 'a secret that only this ordeal knows';
const EMAILS = 120;
const LIMITS = { perSecond: 1_000, inFlightMax: 20 };

type EndpointFixture = { name: string; types: WebhookType[] | null };
/** The endpoints of each project. `wobbly` fails at first for some events, and always for a few. */
const ENDPOINTS: EndpointFixture[][] = [
  [
    { name: 'everything', types: null },
    { name: 'readers', types: ['email.opened', 'email.clicked'] },
    { name: 'troubles', types: ['email.bounced', 'email.unsubscribed', 'email.replied'] },
    { name: 'wobbly', types: null },
  ],
  [
    { name: 'neighbour', types: null },
    { name: 'leisurely', types: null },
  ],
];

type World = {
  db: Database;
  worker: Survivor;
  api: Survivor;
  journal: HookJournal;
  emails: EmailName[];
};

export async function webhooksUnderKills(dataDir: string, ordeal: WebhookOrdeal): Promise<WebhookKillResult> {
  const embedded = await openEmbedded({ product: PRODUCT, dataDir, log: silentLog, print: () => {} });
  const { host, port, user, password, database } = embedded.connection();
  const url = `postgres://${user}:${password}@${host}:${port}/${database}`;
  const env = {
    DATABASE_URL: url,
    SECRET_KEY: SECRET,
    LOG_LEVEL: 'error',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    NODE_EXTRA_CA_CERTS: join(import.meta.dirname, '../servers/tls/names.crt'),
  };
  const worker = await survivor(dataDir, { ...env, ROLES: 'worker' });
  const api = await survivor(dataDir, { ...env, ROLES: 'api' });
  await worker.start();
  const db = await openDatabase({
    connection: () => ({ connectionString: url }),
    clock: systemClock,
    log: silentLog,
  });
  const journal = await hookJournal({ statusFor: chooseStatus, attemptsOf: (post) => attemptsOf(db, post) });
  try {
    const emails: EmailName[] = [];
    for (const endpoints of ENDPOINTS) emails.push(...(await prepareProject({ db, journal }, endpoints)));
    await api.start();
    const world = { db, worker, api, journal, emails };
    const facts = await killWhilePouring(world, ordeal);
    await allDelivered(db);
    return { ...facts, ...(await examineWebhooks(db, journal.posts)) };
  } finally {
    await Promise.all([worker.stop(), api.stop()]);
    await db.close();
    await journal.close();
    await embedded.release();
  }
}

/** Creates a project with emails that were really sent, to the test inbox. */
async function prepareProject(
  { db, journal }: Pick<World, 'db' | 'journal'>,
  endpoints: EndpointFixture[],
): Promise<EmailName[]> {
  const { id: projectId } = await createProject(db, { name: endpoints[0]?.name ?? '' });
  await setSettings(db, projectId, {
    autopilot: '24h',
    quiet_hours: 'off',
    frequency_cap: 'off',
    throttle: 'off',
    postal_address: '1 Main Street',
  });
  await letFallDue(db, projectId, await writeEmails(db, projectId, EMAILS));
  const encrypter = createEncrypter(SECRET, null, 'secrets at rest');
  const deps = { db, encrypter, newId: idMaker(db.clock), rules: { allowPrivate: true } };
  for (const { name, types } of endpoints) {
    const made = await addEndpoint(deps, { projectId, url: journal.url(name), types, ...LIMITS });
    journal.expect(name, made.secret);
  }
  for (;;) {
    const sent = await db.query<{ id: string }>(
      `SELECT id FROM beckon.email WHERE project_id = $1 AND state = 'sent'`,
      [projectId],
    );
    if (sent.length === EMAILS) return sent.map((row) => ({ projectId, emailId: row.id }));
    await pause(50);
  }
}

const WOBBLES = { at_first: 0.2, always: 0.02 };
const ANSWER_MS = { leisurely: 150, others: 20 };

async function chooseStatus({
  endpoint,
  webhookId,
  ordinal,
}: Pick<Posted, 'endpoint' | 'webhookId' | 'ordinal'>): Promise<number> {
  await pause(Math.random() * (endpoint === 'leisurely' ? ANSWER_MS.leisurely : ANSWER_MS.others));
  if (endpoint !== 'wobbly') return 204;
  const share = Number.parseInt(sha256(webhookId).slice(0, 8), 16) / 2 ** 32;
  if (share < WOBBLES.always) return 500;
  return ordinal === 1 && share < WOBBLES.at_first ? 503 : 204;
}

async function attemptsOf(
  db: Database,
  { endpoint, webhookId }: Pick<Posted, 'endpoint' | 'webhookId'>,
): Promise<number> {
  const rows = await db.query<{ attempts: number }>(
    `SELECT count(*) AS attempts FROM beckon.webhook_attempt a
     JOIN beckon.webhook_endpoint e ON e.project_id = a.project_id AND e.id = a.endpoint_id
     WHERE a.webhook_id = $1 AND e.url LIKE '%/' || $2`,
    [webhookId, endpoint],
  );
  return rows[0]?.attempts ?? 0;
}

type Facts = Pick<WebhookKillResult, 'kills' | 'inFlight' | 'killsInFlight' | 'apiKills' | 'hits'>;

async function killWhilePouring(world: World, { kills, apiKills }: WebhookOrdeal): Promise<Facts> {
  const ending = new AbortController();
  const pouring = pour(world, ending.signal);
  const fetching = fetchPictures(world, ending.signal);
  const facts: Facts = { kills, inFlight: 0, killsInFlight: 0, apiKills, hits: 0 };
  try {
    for (let kill = 1; kill <= kills; kill += 1) {
      const inFlight = await killWorker(world, kill);
      facts.inFlight += inFlight;
      facts.killsInFlight += inFlight > 0 ? 1 : 0;
      const isApiKill = Math.floor((kill * apiKills) / kills) > Math.floor(((kill - 1) * apiKills) / kills);
      if (isApiKill) await world.api.killServer();
      await Promise.all([world.worker.start(), isApiKill ? world.api.start() : undefined]);
    }
  } finally {
    ending.abort();
    await pouring;
    facts.hits = await fetching;
  }
  return facts;
}

const POSTS_MOST = 100;
const LATER_MOST_MS = 25;
/**
 * After a kill the leases of the killed worker are ended. Otherwise endpoints whose quota it used up would wait half a minute for it. After
 * one kill in this many the leases run on.
 */
const LEASES_RUN_ON_EVERY = 200;

/** Kills the worker at a random moment. Returns how many requests were under way. */
async function killWorker({ db, worker, journal }: World, kill: number): Promise<number> {
  const until = journal.posts.length + 1 + Math.floor(Math.random() * POSTS_MOST);
  await waitFor(() => Promise.resolve(journal.posts.length >= until), 1);
  await pause(Math.random() * LATER_MOST_MS);
  await worker.killServer();
  const rows = await db.query(`SELECT 1 FROM beckon.webhook_delivery WHERE state = 'delivering'`);
  if (kill % LEASES_RUN_ON_EVERY !== LEASES_RUN_ON_EVERY / 2) await bringForward(db, 'delivering');
  return rows.length;
}

async function bringForward(db: Database, state: 'pending' | 'delivering'): Promise<void> {
  const rows = await db.query(
    `UPDATE beckon.webhook_delivery SET next_at = now() WHERE state = $1 AND next_at > now() RETURNING 1`,
    [state],
  );
  if (rows.length > 0)
    await db.query(`UPDATE beckon.project_timer SET next_at = now() WHERE work = 'webhooks'`);
}

const POUR_EVERY_MS = 20;
const POUR_MOST = 6;
/** The maximum number of recorded outcomes that are not delivered yet. */
const AHEAD_MOST = 100;

/** Records outcomes of all kinds by the usual flow, a few per commit. Some are recorded twice. */
async function pour({ db, emails, journal }: World, ending: AbortSignal): Promise<void> {
  const deps = { db, newId: idMaker(db.clock), log: silentLog };
  for (let recorded = 0; !ending.aborted; await pause(POUR_EVERY_MS)) {
    if (recorded > AHEAD_MOST + journal.posts.length / 2) continue;
    const count = 1 + Math.floor(Math.random() * POUR_MOST);
    const happened = Array.from({ length: count }, (): ReportedOutcome => ({
      ...pick(emails),
      occurredAt: Date.now(),
      ...anything(),
    }));
    recorded += (await recordOutcomes(deps, happened)).length;
  }
}

function pick<T>(from: readonly T[]): T {
  return from[Math.floor(Math.random() * from.length)] as T;
}

const MACHINES = ['yes', 'probable', 'no'] as const;
const LINKS = 200;

function anything(): OutcomeData {
  const chance = Math.random();
  const bot = { bot: pick(MACHINES), botReason: null };
  if (chance < 0.3) return { type: 'email.opened', ...bot };
  if (chance < 0.85) {
    const link = Math.floor(Math.random() * LINKS);
    return { type: 'email.clicked', ...bot, link, url: `https://acme.test/${link}` };
  }
  if (chance < 0.95)
    return { type: 'email.replied', inboundId: `<${Math.random()}@x.test>`, snippet: 'Grüße 👋' };
  if (chance < 0.98) return { type: 'email.unsubscribed', method: 'link' };
  return {
    type: 'email.bounced',
    bounceClass: 'soft',
    status: '4.2.2',
    reason: 'full',
    source: 'dsn',
    verified: true,
  };
}

const FETCH_EVERY_MS = 30;

/** Fetches tracking pixels as readers do, who ignore a server that is down. Returns how many were answered. */
async function fetchPictures({ api, emails }: World, ending: AbortSignal): Promise<number> {
  const keys: TokenKeys = [deriveKey(SECRET, 'email tokens')];
  let fetched = 0;
  for (; !ending.aborted; await pause(FETCH_EVERY_MS)) {
    const token = emailToken(pick(emails), 'open', keys);
    const response = await fetch(`${api.url}/o/${token}.gif`).catch(() => null);
    if (response?.ok) fetched += 1;
    await response?.arrayBuffer().catch(() => null);
  }
  return fetched;
}

/** Waits until every hit is classified and every delivery has ended. Pending retries are made due at once. */
async function allDelivered(db: Database): Promise<void> {
  await waitFor(async () => {
    await bringForward(db, 'pending');
    const rows = await db.query(
      `SELECT 1 FROM beckon.webhook_delivery WHERE next_at IS NOT NULL
       UNION ALL SELECT 1 FROM beckon.hit_count WHERE classify_at IS NOT NULL LIMIT 1`,
    );
    return rows.length === 0;
  }, 50);
}

/** Longer than a lease: a wait that takes longer will never succeed. */
const STUCK_AFTER_MS = 100_000;

async function waitFor(isSo: () => Promise<boolean>, everyMs: number): Promise<void> {
  const giveUpAt = Date.now() + STUCK_AFTER_MS;
  while (!(await isSo())) {
    if (Date.now() > giveUpAt) throw new Error('nothing is told any more');
    await pause(everyMs);
  }
}
