import { createLine } from '../../base/in-line.ts';
import { MAIL_BYTES_MAX } from '../../base/mail-in/index.ts';
import { readRecipient, type ReceiveDeps, receiveMail } from '../../flows/receive-mail/index.ts';
import {
  type Certificate,
  createMailReader,
  type MailListener,
  startMailListener,
} from '../../io/mail/index.ts';
import { trustedPeers } from '../transport.ts';
import { CLIENTS_MAX, createDoor } from './door.ts';

export type MailInOptions = Omit<ReceiveDeps, 'read' | 'inLine'> & {
  host: string;
  port: number;
  /** For those who ask for STARTTLS; null: it is not offered. */
  tls: Certificate | null;
  /** Addresses and ranges of our own servers in front, beside those of this machine. */
  trustProxy: readonly string[];
};

const RECIPIENTS_MAX = 5;
/** More than there are connections. */
const WAITING_MAX = 1_000;
const THIS_MACHINE = ['127.0.0.0/8', '::1'];

/**
 * Bounces, complaints, answers and unsubscribes by mail. Whoever is not written to by a seal of ours is refused at RCPT, so
 * that nothing is ever sent back; what was taken has had its effect before the 250.
 */
export async function startMailIn(options: MailInOptions): Promise<MailListener> {
  const { host, port, tls, trustProxy, ...deps } = options;
  const { db, log, mailDomain } = deps;
  const { read, close } = createMailReader();
  const inLine = createLine({ waitingMax: WAITING_MAX });
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
      return (await receiveMail({ ...deps, read, inLine }, arrived)) ?? undefined;
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
