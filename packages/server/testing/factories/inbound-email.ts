import { afterAll } from 'vitest';
import { createFairQueue } from '../../src/platform/async/fair-queue.ts';
import { idMaker } from '../../src/platform/ids.ts';
import { silentLog } from '../../src/platform/log.ts';
import type { ReceiveDeps } from '../../src/modules/inbound/mail/receive-mail.ts';
import { type MailInOptions, startMailIn } from '../../src/modules/inbound/mail/server.ts';
import { createLookUp } from '../../src/platform/dns/resolver.ts';
import { createMailReader } from '../../src/modules/inbound/mail/reader.ts';
import type { Database } from '../../src/platform/db/database.ts';
import type { MailStage, MailScenario } from './mail-stage.ts';
import { TOKEN_KEYS } from './send-services.ts';
import type { SunkEmail } from '../servers/smtp-sink.ts';
import { openTalk, type Talk } from '../servers/smtp-client.ts';

/** Opens the inbound mail listener of a stage, with a client. */
export async function openInbound(
  stage: MailStage,
  changed: Partial<MailInOptions> = {},
): Promise<{ port: number; talk: Talk }> {
  const door = { host: '127.0.0.1', port: 0, tls: null, trustProxy: [] };
  const mailIn = await startMailIn({ ...door, ...inboundDeps(stage), ...changed });
  const talk = await openTalk(mailIn.port);
  afterAll(async () => {
    talk.close();
    await mailIn.close();
  });
  return { port: mailIn.port, talk };
}

export function inboundDeps({ server: { db }, dns }: MailStage): ReceiveDeps {
  return {
    db,
    newId: idMaker(db.clock),
    tokenKeys: TOKEN_KEYS,
    mailDomain: 'in.beckon.test',
    lookUp: createLookUp({ servers: dns.servers, timeoutMs: 500, tries: 1 }),
    log: silentLog,
    read: createMailReader().read,
    projectQueue: createFairQueue({ atOncePerKey: 1, slots: 100 }),
  };
}

/** A sent email, and what its recipient can read in it. */
export type Sent = {
  delivered: SunkEmail;
  /** Including the angle brackets. */
  messageId: string;
  bounceTo: string;
  replyTo: string;
  unsubscribeTo: string;
  email: string;
};

/** Sends the welcome email to a new user. */
export async function sendTo(scenario: MailScenario, userId: string, email: string): Promise<Sent> {
  await scenario.user(userId, { email });
  await scenario.event(userId, 'user_signed_up');
  await scenario.later(2 * 3_600_000);
  const delivered = scenario.arrived().findLast(({ to }) => to.includes(email));
  if (!delivered) throw new Error(`no email to ${email} arrived`);
  return {
    delivered,
    email,
    messageId: fieldIn(delivered.raw, 'Message-ID'),
    bounceTo: delivered.from,
    replyTo: /[^\s<>]+@[^\s<>]+/.exec(fieldIn(delivered.raw, 'Reply-To'))?.[0] ?? '',
    unsubscribeTo: /mailto:([^>]+)>/.exec(fieldIn(delivered.raw, 'List-Unsubscribe'))?.[1] ?? '',
  };
}

export function fieldIn(raw: string, name: string): string {
  const field = new RegExp(`^${name}:(.*\\r\\n(?:[ \\t].*\\r\\n)*)`, 'im').exec(raw)?.[1] ?? '';
  return field.replaceAll(/\r\n[ \t]/g, ' ').trim();
}

export type Report = {
  recipient: string;
  status?: string;
  action?: string;
  diagnostic?: string;
  envid?: string | undefined;
  /** The header of the returned email. */
  returned?: string;
};

/** Returns a bounce report as Postfix writes it. */
export function dsn({
  recipient,
  status = '5.1.1',
  action = 'failed',
  diagnostic = 'smtp; 550 5.1.1 No such user here',
  envid,
  returned = '',
}: Report): string {
  return [
    'From: MAILER-DAEMON@mx.home.test (Mail Delivery System)',
    'Subject: Undelivered Mail Returned to Sender',
    'To: you@acme.test',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="B"',
    'Message-Id: <20260102030405.ABC@mx.home.test>',
    '',
    '--B',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    `This is the mail system at host mx.home.test. <${recipient}>: ${diagnostic}`,
    '',
    '--B',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.home.test',
    ...(envid === undefined ? [] : [`Original-Envelope-Id: ${envid}`]),
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    `Original-Recipient: rfc822;${recipient}`,
    `Action: ${action}`,
    `Status: ${status}`,
    'Remote-MTA: dns; mx.home.test',
    `Diagnostic-Code: ${diagnostic}`,
    '',
    '--B',
    'Content-Type: text/rfc822-headers',
    '',
    returned.trim(),
    '',
    '--B--',
    '',
  ].join('\r\n');
}

/** Returns a complaint as a feedback loop sends it. */
export function complaint({ returned = '', type = 'abuse' }: { returned?: string; type?: string }): string {
  return [
    'From: feedback@isp.test',
    'To: fbl@in.beckon.test',
    'Subject: complaint about message from 192.0.2.1',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="B"',
    'Message-Id: <complaint-1@isp.test>',
    '',
    '--B',
    'Content-Type: text/plain',
    '',
    'This is an email abuse report.',
    '--B',
    'Content-Type: message/feedback-report',
    '',
    `Feedback-Type: ${type}`,
    'User-Agent: ISP/1.0',
    'Version: 1',
    '',
    '--B',
    'Content-Type: message/rfc822',
    '',
    returned.trim(),
    '',
    'redacted',
    '--B--',
    '',
  ].join('\r\n');
}

export type Written = {
  from: string;
  to: string;
  id?: string;
  subject?: string;
  body?: string;
  inReplyTo?: string;
  headers?: string[];
};

/** Returns a reply of a recipient. */
export function recipientReply({
  from,
  to,
  id = `<${Math.random()}@home.test>`,
  subject = 'Re: Welcome',
  body = 'Thanks, that helped.\r\n\r\n> Welcome\r\n> to Acme',
  inReplyTo,
  headers = [],
}: Written): string {
  return [
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${subject}`,
    `Message-ID: ${id}`,
    ...(inReplyTo === undefined ? [] : [`In-Reply-To: ${inReplyTo}`, `References: ${inReplyTo}`]),
    ...headers,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    '',
    body,
    '',
  ].join('\r\n');
}

/** Returns every row of every table as one text each, so that a test can prove that nothing changed. */
export async function everything(db: Database, except: string[] = []): Promise<Map<string, string[]>> {
  const tables = await db.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'beckon' ORDER BY 1`,
  );
  const found = new Map<string, string[]>();
  for (const { name } of tables) {
    if (except.includes(name)) continue;
    const rows = await db.query<{ row: string }>(`SELECT t::text AS row FROM beckon.${name} t ORDER BY 1`);
    found.set(
      name,
      rows.map(({ row }) => row),
    );
  }
  return found;
}
