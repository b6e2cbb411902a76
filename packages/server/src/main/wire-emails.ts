import type { FastifyInstance } from 'fastify';
import { readFileSync } from 'node:fs';
import type { NewId } from '../platform/ids.ts';
import type { Lifecycle } from '../platform/async/lifecycle.ts';
import { createMailReader, createTracker, startMailIn } from '../modules/inbound/index.ts';
import { mountRelayHooks } from '../modules/inbound/feedback/hook-routes.ts';
import { mountReplyHooks } from '../modules/inbound/reply-sources/hook-routes.ts';
import { mountChoices } from '../modules/inbound/preferences/routes.ts';
import { mountTracking, mountProbe } from '../modules/inbound/tracking/routes.ts';
import { createFairQueue } from '../platform/async/fair-queue.ts';
import { createAddressGuard } from '../platform/http/address-guard.ts';
import type { TransportRules } from '../platform/http/transport.ts';
import type { Database } from '../platform/db/database.ts';
import { listens } from './listening.ts';
import type { ServerOptions } from './options.ts';

type Parts = { db: Database; life: Lifecycle; newId: NewId };

/** Mounts the pages for recipients of emails, beside the API. */
export function mountPages(
  options: ServerOptions,
  { db, life, newId, transport }: Parts & { transport: TransportRules },
): ((app: FastifyInstance) => void)[] {
  const { log, tokenKeys } = options;
  const tracker = createTracker({ db, log });
  life.onStop('hits', () => tracker.close());
  const { clock } = db;
  return [
    (app) => mountTracking(app, { tracker, tokenKeys, transport, clock, log }),
    (app) => mountChoices(app, { db, newId, log, tokenKeys }),
    (app) => mountProbe(app, { tokenKeys }),
    (app) => mountRelayHooks(app, hookDeps(options, { db, life, newId, transport })),
    (app) => mountReplyHooks(app, replyHookDeps(options, { db, life, newId, transport })),
  ];
}

function hookDeps(
  options: ServerOptions,
  { db, life, newId, transport }: Parts & { transport: TransportRules },
): Parameters<typeof mountRelayHooks>[1] {
  const { log, tokenKeys, encrypter, relayKinds: kinds } = options;
  const outbound = options.openOutbound();
  life.onStop('relay certificates', () => outbound.close());
  const guard = createAddressGuard(db.clock);
  const projectQueue = createFairQueue({ atOncePerKey: 1 });
  return { db, newId, log, tokenKeys, encrypter, kinds, outbound, transport, guard, projectQueue };
}

function replyHookDeps(
  options: ServerOptions,
  { db, life, newId, transport }: Parts & { transport: TransportRules },
): Parameters<typeof mountReplyHooks>[1] {
  const { log, tokenKeys, encrypter, mail, lookUp } = options;
  const reader = createMailReader();
  life.onStop('reading of posted emails', () => reader.close());
  const guard = createAddressGuard(db.clock);
  const projectQueue = createFairQueue({ atOncePerKey: 1 });
  const { read } = reader;
  return {
    db,
    newId,
    log,
    tokenKeys,
    encrypter,
    mailDomain: mail.mailDomain,
    lookUp,
    read,
    projectQueue,
    transport,
    guard,
  };
}

/**
 * Starts the SMTP listener. It has no port if none was configured and the default one is taken: two installations on one developer's
 * machine must both start.
 */
export async function wireMailIn(options: ServerOptions, { db, life, newId }: Parts): Promise<MailIn> {
  const { log, mailIn, mail, tokenKeys, lookUp, listen } = options;
  if (!mailIn) return NO_MAIL;
  const { host, port, isExplicit: isAsked } = mailIn;
  const readTls = () =>
    listen.tls && { cert: readFileSync(listen.tls.certFile), key: readFileSync(listen.tls.keyFile) };
  const deps = { db, newId, tokenKeys, mailDomain: mail.mailDomain, lookUp, log };
  try {
    const listener = await startMailIn({
      ...deps,
      host,
      port,
      tls: readTls(),
      trustProxy: listen.trustProxy,
    });
    life.onStop('mail in', () => listener.close());
    const reloadCertificate = (): void => {
      const tls = readTls();
      if (tls) listener.renew(tls);
    };
    return { port: listener.port, reloadCertificate };
  } catch (error) {
    if (isAsked || !isAddressInUse(error))
      return listens({ variable: 'MAIL_IN_PORT', host, port }, Promise.reject(error));
    log.warn({ host, port }, 'inbound_email.port_in_use');
    return NO_MAIL;
  }
}

type MailIn = { port: number | null; reloadCertificate: () => void };
const NO_MAIL: MailIn = { port: null, reloadCertificate: () => {} };

function isAddressInUse(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}
