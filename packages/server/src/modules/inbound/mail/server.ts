import { createFairQueue } from '../../../platform/async/fair-queue.ts';
import { MAIL_BYTES_MAX } from '../classification/read-mail.ts';
import { readRecipient } from './recipient.ts';
import { type ReceiveDeps, receiveMail } from './receive-mail.ts';
import { type Certificate, type MailListener, startMailListener } from '../../../platform/mail/listener.ts';
import { createMailReader } from './reader.ts';
import { trustedPeers } from '../../../platform/http/transport.ts';
import { CLIENTS_MAX, createDoor } from './connection-limits.ts';

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
