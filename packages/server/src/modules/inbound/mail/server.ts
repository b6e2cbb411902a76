import { MAIL_BYTES_MAX } from '../classification/read-mail.ts';
import { createMailReader } from './reader.ts';
import { type ArrivedMail, type ReceiveDeps, receiveMail } from './receive-mail.ts';
import { readForwardingAddress, readRecipient } from './match-email.ts';
import { receiveForwarded } from '../reply-sources/receive-forwarded.ts';
import { createFairQueue } from '../../../platform/async/fair-queue.ts';
import { recentMap } from '../../../platform/async/recent-map.ts';
import { trustedPeers } from '../../../platform/http/transport.ts';
import {
  type Certificate,
  type MailRefusal,
  type ConnectionPolicy,
  type MailListener,
  startMailListener,
} from '../../../platform/mail/listener.ts';
import { addressGroup } from '../../../platform/net/network-address.ts';

export type MailInOptions = Omit<ReceiveDeps, 'read' | 'projectQueue'> & {
  host: string;
  port: number;
  /** The certificate for STARTTLS. Null: STARTTLS is not offered. */
  tls: Certificate | null;
  /** Addresses and ranges of our own proxies, in addition to those of this machine. */
  trustProxy: readonly string[];
};

const RECIPIENTS_MAX = 5;
/** More slots than connections. */
const PROJECT_QUEUE = { atOncePerKey: 1, slots: 1_000 };
const THIS_MACHINE = ['127.0.0.0/8', '::1'];

/**
 * Receives bounces, complaints, replies and unsubscribes by SMTP. A recipient without a valid token is refused at RCPT, so
 * Beckon never sends backscatter. An accepted email has taken effect before the 250.
 */
export async function startMailIn(options: MailInOptions): Promise<MailListener> {
  const { host, port, tls, trustProxy, ...deps } = options;
  const { db, log, mailDomain } = deps;
  const { read, close } = createMailReader();
  const projectQueue = createFairQueue(PROJECT_QUEUE);
  const isNear = trustedPeers([...THIS_MACHINE, ...trustProxy]);
  const listener = await startMailListener({
    host,
    port,
    ...(mailDomain === null ? {} : { name: mailDomain }),
    sizeMax: MAIL_BYTES_MAX,
    clientsMax: CLIENTS_MAX,
    recipientsMax: RECIPIENTS_MAX,
    credentials: null,
    tls,
    door: createConnectionPolicy({
      now: () => db.clock.now(),
      isNear,
      acceptsRecipient: (address) =>
        readRecipient(address, deps) !== null || readForwardingAddress(address, deps.tokenKeys) !== null,
    }),
    async accept({ from, to, raw, remote, helo }) {
      const arrived = { from, to, raw, remote, helo, isNear: isNear(remote) };
      return (await receiveAll({ ...deps, read, projectQueue }, arrived)) ?? undefined;
    },
    log,
  });
  return {
    ...listener,
    async close() {
      await listener.close();
      await close();
    },
  };
}

/** An email that a mailbox forwards is never refused, because its author would get the report about it. */
async function receiveAll(deps: ReceiveDeps, arrived: ArrivedMail): Promise<MailRefusal | null> {
  const sources = arrived.to.flatMap((address) => readForwardingAddress(address, deps.tokenKeys) ?? []);
  for (const source of sources) await receiveForwarded(deps, { source, raw: arrived.raw });
  const to = arrived.to.filter((address) => readForwardingAddress(address, deps.tokenKeys) === null);
  return to.length === 0 ? null : receiveMail(deps, { ...arrived, to });
}

type ConnectionPolicyOptions = {
  now: () => number;
  /** Returns whether mail to this address is accepted. */
  acceptsRecipient: (address: string) => boolean;
  /** Returns whether this is a proxy of ours: it brings the mail of all others, and is not limited. */
  isNear: (remote: string) => boolean;
};

/** Per address, or per IPv6 network. */
const CONNECTIONS_MAX = 20;
/** Over all other clients, so that a proxy of ours always finds a free connection. */
const STRANGERS_MAX = 800;
const CLIENTS_MAX = 1_000;
const PER_MINUTE = 600;
const REMEMBERED = 20_000;
const MINUTE_MS = 60_000;

/**
 * Limits how often a client may connect, and which recipients it may name. Any other recipient is refused before the body of the mail is
 * read.
 */
export function createConnectionPolicy({
  now,
  acceptsRecipient,
  isNear,
}: ConnectionPolicyOptions): ConnectionPolicy {
  const connected = new Map<string, number>();
  let strangers = 0;
  const buckets = recentMap<{ left: number; at: number }>(REMEMBERED);

  function takeToken(group: string): boolean {
    const at = now();
    const bucket = buckets.get(group) ?? { left: PER_MINUTE, at };
    const remaining = Math.min(
      PER_MINUTE,
      bucket.left + (Math.max(0, at - bucket.at) * PER_MINUTE) / MINUTE_MS,
    );
    buckets.set(group, { left: Math.max(0, remaining - 1), at });
    return remaining >= 1;
  }

  return {
    connects(remote) {
      const group = addressGroup(remote);
      const count = connected.get(group) ?? 0;
      const isStrange = !isNear(remote);
      if (isStrange && count >= CONNECTIONS_MAX)
        return { code: 421, text: '4.7.0 Too many connections from your address, try again later' };
      if (isStrange && strangers >= STRANGERS_MAX)
        return { code: 421, text: '4.7.0 Too many connections, try again later' };
      if (isStrange) strangers += 1;
      connected.set(group, count + 1);
      return null;
    },
    leaves(remote) {
      if (!isNear(remote)) strangers -= 1;
      const group = addressGroup(remote);
      const count = (connected.get(group) ?? 1) - 1;
      if (count > 0) connected.set(group, count);
      else connected.delete(group);
    },
    writesTo(address, remote) {
      const group = addressGroup(remote);
      if (!isNear(remote) && !takeToken(group))
        return { code: 451, text: '4.7.1 Too many requests from your address, try again later' };
      return acceptsRecipient(address) ? null : { code: 550, text: '5.1.1 No such address here' };
    },
  };
}
