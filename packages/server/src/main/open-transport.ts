import type { TokenKeys } from '../platform/crypto/email-token.ts';
import { randomBytes } from 'node:crypto';
import type { Lifecycle } from '../platform/async/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import { receiveMail } from '../modules/review/index.ts';
import { relayOpener, type OpenRelayTransport, type Transport } from '../modules/delivery/index.ts';
import { INSTALLATION } from '../modules/sending/index.ts';
import { hostGuard, type ResolveHost } from '../platform/outbound/host-guard.ts';
import type { Outbound } from '../platform/outbound/outbound.ts';
import type { ServerOptions } from './options.ts';
import { classifyReply } from '../modules/outcomes/index.ts';
import { MAIL_MAX_BYTES } from '../modules/review/index.ts';
import type { Database } from '../platform/db/database.ts';
import { openRelay } from '../platform/mail/relay.ts';
import type { Relay } from '../platform/mail/submit.ts';
import { startMailListener } from '../platform/mail/listener.ts';

export type OutgoingRelayOptions = {
  /** Null: to the test inbox of this installation. */
  smtpUrl: string | null;
  tokenKeys: TokenKeys;
  log: Log;
};

/** A whole stop takes ten seconds at most, and the sender has used half of them. */
const CUT_OFF_AFTER_MS = 2_000;

/**
 * Opens the relay for emails: the operator's or, without one, the test inbox. Both use SMTP, so the test inbox shows exactly what a relay
 * would get.
 */
export async function openOutgoingRelay(
  { smtpUrl, tokenKeys, log }: OutgoingRelayOptions,
  { db, life }: { db: Database; life: Lifecycle },
): Promise<Relay> {
  const url = smtpUrl ?? (await openTestInbox({ tokenKeys, log }, { db, life }));
  const { failpoint } = db;
  const dotSent = failpoint && (() => failpoint('email_dot_sent'));
  const relay = openRelay({ url, log, classify: classifyReply, dotSent });
  life.onStop('relay', () => relay.close(CUT_OFF_AFTER_MS));
  return relay;
}

type ProjectRelayOptions = Pick<
  ServerOptions,
  'encrypter' | 'tokenKeys' | 'relayKinds' | 'resolver' | 'webhooks' | 'log'
>;

/** Opens the relays of projects, domains and the installation. */
export function openProjectRelays(
  { encrypter, tokenKeys, relayKinds: kinds, resolver, webhooks, log }: ProjectRelayOptions,
  { db, life, outbound }: { db: Database; life: Lifecycle; outbound: Outbound },
): OpenRelayTransport {
  const { failpoint } = db;
  const dotSent = failpoint && (() => failpoint('email_dot_sent'));
  const opened = new Set<Transport>();
  life.onStop('relays', async () => {
    for (const transport of opened) await transport.close?.();
  });
  const open = relayOpener({
    db,
    log,
    encrypter,
    tokenKeys,
    kinds,
    outbound,
    resolveHostOf: relayHosts({ resolver, webhooks }),
    dotSent,
  });
  return (relay) => {
    const transport = open(relay);
    opened.add(transport);
    return {
      ...transport,
      async close() {
        opened.delete(transport);
        await transport.close?.();
      },
    };
  };
}

/** Only an operator may name a relay that is not a public host. */
export function relayHosts({
  resolver,
  webhooks,
}: Pick<ServerOptions, 'resolver' | 'webhooks'>): (relay: { projectId: number }) => ResolveHost {
  const guard = hostGuard({ allowPrivate: webhooks.allowPrivate, resolver });
  return ({ projectId }) => (projectId === INSTALLATION ? anyHost : guard);
}

const anyHost = (host: string): Promise<string> => Promise.resolve(host);

/** On loopback, and for this process alone: no other has its credentials. */
async function openTestInbox(
  { tokenKeys, log }: Omit<OutgoingRelayOptions, 'smtpUrl'>,
  { db, life }: { db: Database; life: Lifecycle },
): Promise<string> {
  const credentials = { user: 'beckon', pass: randomBytes(24).toString('hex') };
  const listener = await startMailListener({
    host: '127.0.0.1',
    port: 0,
    sizeMax: MAIL_MAX_BYTES,
    credentials,
    async accept(mail) {
      await receiveMail({ db, tokenKeys }, mail);
    },
    log,
  });
  life.onStop('test_inbox', () => listener.close());
  return `smtp://${credentials.user}:${credentials.pass}@127.0.0.1:${listener.port}?tls=optional`;
}
