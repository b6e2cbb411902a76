import type { Encrypter } from '../../platform/crypto/encrypt.ts';
import { emailToken, type TokenKeys } from '../../platform/crypto/email-token.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Log } from '../../platform/log.ts';
import { openRelay } from '../../platform/mail/relay.ts';
import { type SendResult, unreachable } from '../../platform/mail/send-result.ts';
import type { Relay } from '../../platform/mail/submit.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import type { ResolveHost } from '../../platform/outbound/host-guard.ts';
import type { RelayAdapter, RelaySettings } from '../../platform/relays/adapter.ts';
import { idempotencyOf } from '../../platform/relays/idempotency.ts';
import type { RelayKinds } from '../../platform/relays/kinds.ts';
import { redactSecrets, smtpSecrets } from '../../platform/relays/redact.ts';
import { smtpUrlOf } from '../../platform/relays/smtp.ts';
import { classifyReply } from '../outcomes/index.ts';
import { findRelayWithSecrets, type RelayRef, updateRelayHealth } from '../sending/index.ts';
import { markEmail } from './mark-email.ts';
import { guardedTransport, submitBySmtp } from './relay-transport.ts';
import type { OpenRelayTransport, Transport, TransportEmail } from './transport.ts';

export type OpenRelayDeps = {
  db: Tx & { clock: { now(): number } };
  log: Log;
  encrypter: Encrypter;
  tokenKeys: TokenKeys;
  kinds: RelayKinds;
  /** For the requests to providers. */
  outbound: Outbound;
  /** The SMTP relays of projects may only be public hosts, and those of the installation any host. */
  resolveHostOf: (relay: Pick<RelayRef, 'projectId'>) => ResolveHost;
  /** Called when the end of an email was sent, and no reply has arrived yet. */
  dotSent?: (() => void) | undefined;
};

const SMTP_SLOTS = 10;
const CLOSE_WITHIN_MS = 2_000;

/** One open connection to a relay, by SMTP or to the API of its provider. */
type Connection = {
  submit(email: TransportEmail): Promise<{ result: SendResult; pauseMs?: number }>;
  close(): Promise<void>;
};

/**
 * Opens relays that are stored in the database. The settings are read when the first email is sent, so an unused relay costs nothing. A
 * relay whose settings cannot be read has received nothing of the email.
 */
export function relayOpener(deps: OpenRelayDeps): OpenRelayTransport {
  return (relay) => {
    let opened: Promise<Connection> | null = null;

    async function submit(email: TransportEmail): Promise<{ result: SendResult; pauseMs?: number }> {
      opened ??= connect(deps, relay);
      let connection: Connection;
      try {
        connection = await opened;
      } catch (error) {
        opened = null;
        deps.log.warn({ relay_id: relay.id, err: error }, 'relay.not_opened');
        return { result: unreachable('connect', error instanceof Error ? error.message : 'not opened') };
      }
      return connection.submit(email);
    }

    const transport: Transport = guardedTransport({
      slots: deps.kinds.adapterOf(relay.kind)?.slots ?? relay.connections ?? SMTP_SLOTS,
      now: () => deps.db.clock.now(),
      submit,
      onHealth: (failure) => void noteHealth(deps, relay, failure),
    });
    return {
      ...transport,
      async close() {
        const connection = await opened?.catch(() => null);
        await connection?.close();
      },
    };
  };
}

async function connect(deps: OpenRelayDeps, relay: RelayRef): Promise<Connection> {
  const found = await findRelayWithSecrets(deps, relay.id);
  if (!found) throw new Error('The relay was deleted');
  const { settings } = found;
  // Keys are known to one account only, so the first request and a repeated one must have the same settings.
  if (idempotencyOf(relay.kind) && found.relay.generation !== relay.generation)
    throw new Error('The settings of the relay were changed');
  const adapter = deps.kinds.adapterOf(relay.kind);
  if (adapter) return connectToProvider(deps, { adapter, relay, settings });
  if (relay.kind !== 'smtp') throw new Error(`This version has no relays of the kind ${relay.kind}`);
  return connectBySmtp(deps, relay, settings);
}

function connectBySmtp(
  { log, dotSent, resolveHostOf, kinds, tokenKeys }: OpenRelayDeps,
  relay: RelayRef,
  settings: RelaySettings,
): Connection {
  const smtp: Relay = openRelay({
    url: smtpUrlOf(settings),
    classify: classifyReply,
    resolveHost: resolveHostOf(relay),
    dotSent,
    log,
  });
  const reporter = kinds.reporterOf(relay.kind, settings);
  return {
    async submit(email) {
      const mime = reporter ? markEmail(reporter, email, tokenKeys) : email.mime;
      const result = await submitBySmtp(smtp, { ...email, mime });
      return redactSecrets({ result }, smtpSecrets(settings));
    },
    close: () => smtp.close(CLOSE_WITHIN_MS),
  };
}

type Provider = { adapter: RelayAdapter; relay: RelayRef; settings: RelaySettings };

function connectToProvider(
  { db, outbound, tokenKeys, dotSent: posted }: OpenRelayDeps,
  { adapter, relay, settings }: Provider,
): Connection {
  const context = { settings, outbound, key: relay.id, now: () => db.clock.now(), posted };
  return {
    submit: ({ projectId, emailId, mailFrom, rcptTo, mime }) =>
      adapter.send(
        {
          token: emailToken({ projectId, emailId }, 'relay', tokenKeys),
          mailFrom,
          rcptTo,
          mime,
          // The same for every attempt and for every question: the provider recognizes a request that it received before.
          idempotencyKey: emailId,
        },
        context,
      ),
    close: () => Promise.resolve(),
  };
}

/** Shows in the dashboard that a relay fails or works. Emails do not wait for it. */
async function noteHealth(
  { db, log }: OpenRelayDeps,
  relay: RelayRef,
  failure: string | null,
): Promise<void> {
  const { projectId, id, generation } = relay;
  if (failure !== null) log.warn({ relay_id: id, project_id: projectId, reason: failure }, 'relay.paused');
  try {
    await updateRelayHealth(db, { projectId, id, generation, failure, at: db.clock.now() });
  } catch (error) {
    log.warn({ relay_id: id, err: error }, 'relay.health_not_recorded');
  }
}
