import type { FastifyInstance } from 'fastify';
import type { NewId } from '../platform/ids.ts';
import type { Lifecycle } from '../platform/async/lifecycle.ts';
import { createTeam, type Team, type Feeds, type Installation } from '../modules/workspace/index.ts';
import { createDashboardApi, type DashboardApi } from '../modules/workspace/dashboard-api/mount.ts';
import { createModels, listRuleNeeds, createBacktestSlots } from '../modules/rules/index.ts';
import { createAccountEmails } from '../modules/delivery/index.ts';
import { DASHBOARD_ROUTES, type DashboardDeps } from './dashboard-routes.ts';
import { mountApp } from '../platform/http/static/app.ts';
import { mountGuide } from '../platform/http/static/mount-guide.ts';
import type { TransportRules } from '../platform/http/transport.ts';
import type { Database } from '../platform/db/database.ts';
import type { Relay } from '../platform/mail/submit.ts';
import { openOutgoingRelay, openProjectRelays, relayHosts } from './open-transport.ts';
import type { ServerOptions } from './options.ts';

type Parts = {
  db: Database;
  life: Lifecycle;
  newId: NewId;
  transport: TransportRules;
  team: Team;
  feeds: Feeds;
  wake: () => void;
};

export function openTeam(options: ServerOptions, { db, life }: Pick<Parts, 'db' | 'life'>): Team {
  const { adminConnection: connection, listen, teamSecrets: secrets, log } = options;
  const publicOrigin = new URL(listen.publicUrl).origin;
  const team = createTeam({
    // The caller and their access are looked up for each request of the dashboard.
    db: db.forPages({ cost: 'light' }),
    connection,
    // Both URLs are the same if everything goes through the pooler.
    isPooled:
      !options.namedStatements && connection().connectionString === options.connection().connectionString,
    publicOrigin,
    secrets,
    log,
  });
  life.onStop('team', () => team.close());
  return team;
}

export function openDashboardApi(options: ServerOptions, parts: Parts): DashboardApi {
  return createDashboardApi(dashboardDeps(options, parts), DASHBOARD_ROUTES);
}

/** Mounts the dashboard, the guide, and the API of the dashboard. */
export function mountPeople(options: ServerOptions, api: DashboardApi): ((app: FastifyInstance) => void)[] {
  const state = options.dashboard ?? NOT_BUILT;
  const guide = options.guide ?? NOT_BUILT;
  return [
    (app) => api.mount(app),
    (app) => mountApp(app, { publicUrl: options.listen.publicUrl, state }),
    (app) => mountGuide(app, { state: guide }),
  ];
}

const NOT_BUILT = (): { kind: 'building' } => ({ kind: 'building' });

function dashboardDeps(options: ServerOptions, { life, ...parts }: Parts): DashboardDeps {
  const { log, pepper, encrypter, hasher, tokenKeys, sendServices, mail, resolver, release } = options;
  const { webhooks } = options;
  const openRelay = openedOnce(() =>
    openOutgoingRelay({ smtpUrl: options.smtpUrl, tokenKeys, log }, { db: parts.db, life }),
  );
  const outbound = options.openOutbound();
  life.onStop('relay requests', () => outbound.close());
  return {
    ...parts,
    log,
    relayKinds: options.relayKinds,
    smtpUrl: options.smtpUrl,
    resolveHostOf: relayHosts(options),
    openRelayTransport: openProjectRelays(options, { db: parts.db, life, outbound }),
    access: parts.team,
    pepper,
    encrypter,
    hasher,
    tokenKeys,
    sendServices,
    models: createModels(parts.db.clock),
    listRuleNeeds,
    mail,
    resolver,
    openOutbound: () => options.openOutbound(),
    release,
    minimumVersions: options.minimumVersions,
    openRelay,
    accountEmails: createAccountEmails({
      db: parts.db,
      openRelay,
      outlet: sendServices.outlet,
      mailFrom: options.mailFrom,
      tokenKeys,
      newId: parts.newId,
      log,
    }),
    webhooks,
    restoreGuard: options.restoreGuard,
    installation: installationOf(options),
    projectsMax: options.projectsMax,
    backtests: createBacktestSlots(),
  };
}

/** Only test emails use this relay, and few processes send any. */
function openedOnce(open: () => Promise<Relay>): () => Promise<Relay> {
  let opened: Promise<Relay> | null = null;
  return () => {
    opened ??= open();
    return opened;
  };
}

function installationOf({ listen, smtpUrl, mailFrom, model }: ServerOptions): Installation {
  return {
    publicUrl: listen.publicUrl,
    relay: smtpUrl === null ? null : withoutPassword(smtpUrl),
    mailFrom,
    hasModel: Boolean(model),
  };
}

function withoutPassword(url: string): string {
  const relay = new URL(url);
  relay.username = '';
  relay.password = '';
  relay.search = '';
  return relay.href;
}
