import { once } from 'node:events';
import DKIM from 'nodemailer/lib/dkim';
import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { silentLog } from '../../../packages/server/src/platform/log.ts';
import { composeMail } from '../../../packages/server/src/platform/mail/compose.ts';
import type {
  DkimSigningKey,
  OutgoingEmail,
} from '../../../packages/server/src/platform/mail/outgoing-email.ts';
import { openRelay } from '../../../packages/server/src/platform/mail/relay.ts';
import { classifyReply } from '../../../packages/server/src/modules/outcomes/bounces/classify-reply.ts';

/**
 * The baselines of `send throughput`: emails with the same text to the same sink over the same number of connections, without a database.
 * Rendering is left out: HTML and text are prepared as the product renders them, and only Message-ID and recipient differ in each.
 *
 * - `ours` composes and signs with `composeMail` and submits by `openRelay`, as the product does.
 * - `library` uses nodemailer itself for everything: its composer, its signer and its connection.
 * - `raw` submits emails that were composed and signed before, so it is the limit of connections and sink.
 */
export const BASELINE_LOOPS = ['ours', 'library', 'raw'] as const;
export type BaselineLoop = (typeof BASELINE_LOOPS)[number];
export type Baseline = {
  loop: BaselineLoop;
  emails: number;
  smtpPort: number;
  connections: number;
  email: BaselineEmail;
  dkim: DkimSigningKey;
};
export type BaselineEmail = Omit<OutgoingEmail, 'messageId' | 'date' | 'to'>;

const RAW_EMAILS = 500;
/** As in the product, emails are composed while as many as there are connections are submitted. */
const COMPOSED_OF_EACH = 4;

export async function sendBaseline(baseline: Baseline): Promise<void> {
  switch (baseline.loop) {
    case 'ours':
      return sendOurs(baseline);
    case 'library':
      return sendByLibrary(baseline);
    case 'raw':
      return sendRaw(baseline);
    default:
      return baseline.loop satisfies never;
  }
}

/** Runs this many at a time, each with the next number, until all are done. */
async function inTurn(
  emails: number,
  atATime: number,
  sendEmail: (n: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  async function work(): Promise<void> {
    while (next < emails) await sendEmail(next++);
  }
  await Promise.all(Array.from({ length: atATime }, work));
}

function outgoingEmail({ email }: Baseline, n: number): OutgoingEmail {
  return {
    ...email,
    messageId: `${crypto.randomUUID()}@${domainOf(email)}`,
    date: new Date(),
    to: { name: '', address: recipient(n) },
  };
}

const recipient = (n: number): string => `person${n}@example.com`;
const domainOf = ({ from }: BaselineEmail): string => from.address.slice(from.address.indexOf('@') + 1);

async function sendOurs(baseline: Baseline): Promise<void> {
  const { emails, connections, email, dkim } = baseline;
  const submit = relayTo(baseline);
  await inTurn(emails, connections * COMPOSED_OF_EACH, async (n) => {
    await submit.sendEmail(n, await composeMail(outgoingEmail(baseline, n), dkim), email.from.address);
  });
  await submit.close();
}

async function sendRaw(baseline: Baseline): Promise<void> {
  const { emails, connections, email, dkim } = baseline;
  const submit = relayTo(baseline);
  const rawEmails: Buffer[] = [];
  for (let n = 0; n < Math.min(RAW_EMAILS, emails); n += 1)
    rawEmails.push(await composeMail(outgoingEmail(baseline, n), dkim));
  await inTurn(emails, connections, async (n) => {
    const raw = rawEmails[n % rawEmails.length];
    if (raw) await submit.sendEmail(n, raw, email.from.address);
  });
  await submit.close();
}

type Submit = { sendEmail(n: number, mime: Buffer, from: string): Promise<void>; close(): Promise<void> };

function relayTo({ smtpPort, connections }: Baseline): Submit {
  const relay = openRelay({
    url: `smtp://127.0.0.1:${smtpPort}`,
    slots: connections,
    log: silentLog,
    classify: classifyReply,
  });
  return {
    async sendEmail(n, mime, from) {
      const answer = await relay.submit({ from, to: recipient(n), envid: crypto.randomUUID() }, mime);
      if (answer.result !== 'sent') throw new Error(`the sink did not accept an email: ${answer.result}`);
    },
    close: () => relay.close(),
  };
}

async function sendByLibrary(baseline: Baseline): Promise<void> {
  const { emails, smtpPort, connections, dkim } = baseline;
  const signer = new DKIM({
    domainName: dkim.domain,
    keySelector: dkim.selector,
    privateKey: dkim.privateKey,
  });
  const free: SMTPConnection[] = [];
  for (let n = 0; n < connections; n += 1) free.push(await connected(smtpPort));
  await inTurn(emails, connections, async (n) => {
    const connection = free.pop();
    if (!connection) throw new Error('no connection is free');
    await sendOne(connection, { email: outgoingEmail(baseline, n), signer });
    free.push(connection);
  });
  for (const connection of free) connection.quit();
}

async function connected(port: number): Promise<SMTPConnection> {
  const connection = new SMTPConnection({ host: '127.0.0.1', port, ignoreTLS: true });
  const ready = once(connection, 'connect');
  connection.connect();
  await ready;
  // The server hangs up after QUIT. No email is under way then.
  connection.on('error', () => {});
  return connection;
}

type Signed = { email: OutgoingEmail; signer: DKIM };

function sendOne(connection: SMTPConnection, { email, signer }: Signed): Promise<void> {
  const { from, to, replyTo, messageId, date, subject, html, text, headers } = email;
  const composer = new MailComposer({
    from,
    to,
    ...(replyTo && { replyTo }),
    messageId: `<${messageId}>`,
    date,
    subject,
    html,
    text,
    headers: headers.map(({ name, value }) => ({ key: name, value })),
  }).compile();
  const signed = signer.sign(composer.createReadStream());
  const sent = Promise.withResolvers<void>();
  connection.send({ from: from.address, to: [to.address] }, signed, (error) => {
    if (error) sent.reject(error);
    else sent.resolve();
  });
  return sent.promise;
}
