import { MAIL_BYTES_MAX } from '../classification/read-mail.ts';
import { createMailReader } from './reader.ts';
import { type ReceiveDeps, receiveMail } from './receive-mail.ts';
import { readRecipient } from './match-email.ts';
import { createFairQueue } from '../../../platform/async/fair-queue.ts';
import { recentMap } from '../../../platform/async/recent-map.ts';
import { trustedPeers } from '../../../platform/http/transport.ts';
import {
  type Certificate,
  type MailDoor,
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
/** More places than connections. */
const PROJECT_QUEUE = { atOncePerKey: 1, places: 1_000 };
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
    door: createDoor({
      now: () => db.clock.now(),
      isNear,
      isKnown: (address) => readRecipient(address, deps) !== null,
    }),
    async accept({ from, to, raw, remote, helo }) {
      const arrived = { from, to, raw, remote, helo, isNear: isNear(remote) };
      return (await receiveMail({ ...deps, read, projectQueue }, arrived)) ?? undefined;
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

type DoorOptions = {
  now: () => number;
  /** Returns whether mail to this address is accepted. */
  isKnown: (address: string) => boolean;
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
export function createDoor({ now, isKnown, isNear }: DoorOptions): MailDoor {
  const connected = new Map<string, number>();
  let strangers = 0;
  const allowed = recentMap<{ left: number; at: number }>(REMEMBERED);

  function mayAsk(place: string): boolean {
    const at = now();
    const known = allowed.get(place) ?? { left: PER_MINUTE, at };
    const left = Math.min(PER_MINUTE, known.left + (Math.max(0, at - known.at) * PER_MINUTE) / MINUTE_MS);
    allowed.set(place, { left: Math.max(0, left - 1), at });
    return left >= 1;
  }

  return {
    connects(remote) {
      const place = addressGroup(remote);
      const count = connected.get(place) ?? 0;
      const isStrange = !isNear(remote);
      if (isStrange && count >= CONNECTIONS_MAX)
        return { code: 421, text: '4.7.0 Too many connections from your address, try again later' };
      if (isStrange && strangers >= STRANGERS_MAX)
        return { code: 421, text: '4.7.0 Too many connections, try again later' };
      if (isStrange) strangers += 1;
      connected.set(place, count + 1);
      return null;
    },
    leaves(remote) {
      if (!isNear(remote)) strangers -= 1;
      const place = addressGroup(remote);
      const count = (connected.get(place) ?? 1) - 1;
      if (count > 0) connected.set(place, count);
      else connected.delete(place);
    },
    writesTo(address, remote) {
      const place = addressGroup(remote);
      if (!isNear(remote) && !mayAsk(place))
        return { code: 451, text: '4.7.1 Too many requests from your address, try again later' };
      return isKnown(address) ? null : { code: 550, text: '5.1.1 No such address here' };
    },
  };
}
