import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { emailToken, type TokenUse } from '../../../packages/server/src/platform/crypto/email-token.ts';
import { openTalk } from '../../../packages/server/testing/servers/smtp-client.ts';
import { openJournal, type SinkEntry, type World } from '../journal.ts';
import { between, pick, type Random, randomOf } from '../random.ts';
import { argument, reportReady, readCommands } from '../sinks/commands.ts';
import { followJournal } from '../stage/follow.ts';
import { MAIL, TOKEN_KEYS } from '../stage/world.ts';

/**
 * The recipients of the emails: some open them, some follow a link, a few reply, bounce or unsubscribe. The resulting outcomes go to the
 * webhook endpoints.
 */
const dir = argument('DIR');
const world = JSON.parse(readFileSync(join(dir, 'world.json'), 'utf8')) as World;
const targets = argument('TARGETS').split(',');
const mailInPort = Number(argument('MAIL_IN_PORT'));
const journal = openJournal(dir, 'readers');
const emails = followJournal(join(dir, 'smtp.jsonl'));

const SHARES = { open: 0.75, click: 0.5, second: 0.25, unsubscribe: 0.02, reply: 0.03, bounce: 0.01 };
const POLL_MS = 300;
const READ_DELAY = { minMs: 1_000, maxMs: 20_000 };
const RESPONSE_TIMEOUT_MS = 15_000;
const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0';

type Email = Extract<SinkEntry, { kind: 'email' }>;
type Reader = { project: string; emailId: string; email: string; bounceTo: string; random: Random };

let [stopping, inFlight] = [false, 0];

/** Late responses are not the reader's fault, so readers never retry. */
async function readEmail(entry: Email): Promise<void> {
  const emailId = entry.messageId.split('@')[0] ?? '';
  const email = entry.to[0] ?? '';
  const project = /@p(\d+)\.test$/.exec(email)?.[1];
  if (project === undefined) return;
  const random = randomOf(`${world.seed} ${entry.messageId}`);
  const reader = { project, emailId, email, bounceTo: entry.from, random };
  await pause(between(READ_DELAY.minMs, READ_DELAY.maxMs, random));
  if (stopping) return;
  if (random() < SHARES.open) await requestPath(`/o/${tokenOf(reader, 'open')}.gif`, random);
  if (random() < SHARES.click) await requestPath(`/c/${tokenOf(reader, 'click 0')}/0`, random);
  if (random() < SHARES.second) await requestPath(`/c/${tokenOf(reader, 'click 1')}/1`, random);
  if (random() < SHARES.unsubscribe) await unsubscribe(reader);
  if (random() < SHARES.reply) await submitEmail(replyOf(reader));
  if (random() < SHARES.bounce) await submitEmail(bounceOf(reader));
}

function tokenOf({ project, emailId }: Reader, use: TokenUse): string {
  return emailToken({ projectId: Number(project), emailId }, use, TOKEN_KEYS);
}

async function requestPath(path: string, random: Random, form?: string): Promise<number | null> {
  const headers: Record<string, string> = {
    'User-Agent': `${USER_AGENT} ${between(1, 40, random)}`,
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-For': `192.0.2.${between(1, 250, random)}`,
  };
  if (form !== undefined) headers['Content-Type'] = 'application/x-www-form-urlencoded';
  try {
    const response = await fetch(`${pick(targets, random)}${path}`, {
      method: form === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers,
      ...(form === undefined ? {} : { body: form }),
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return null;
  }
}

/** Unsubscribes with one click. Any email sent to this user after the response is a violation. */
async function unsubscribe(reader: Reader): Promise<void> {
  const at = Date.now();
  const status = await requestPath(
    `/u/${tokenOf(reader, 'unsubscribe')}`,
    reader.random,
    'List-Unsubscribe=One-Click',
  );
  const endedAt = status === null ? null : Date.now();
  const { project, email: subject } = reader;
  journal.write({ kind: 'action', at, endedAt, action: 'suppress', project, subject, status });
}

type OutgoingEmail = { to: string; from: string; raw: string };

async function submitEmail({ to, from, raw }: OutgoingEmail): Promise<void> {
  try {
    const talk = await openTalk(mailInPort);
    const limit = setTimeout(() => talk.close(), RESPONSE_TIMEOUT_MS);
    await talk.submit({ from, to: [to], raw });
    clearTimeout(limit);
    talk.close();
  } catch {
    // No process was up to receive it.
  }
}

function replyOf(reader: Reader): OutgoingEmail {
  const { email, random } = reader;
  const to = `r+${tokenOf(reader, 'reply')}@${MAIL.mailDomain ?? ''}`;
  const raw = [
    `From: ${email}`,
    `To: ${to}`,
    'Subject: Re: Your order',
    `Message-ID: <${random()}@home.test>`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Thanks, that helped.',
    '',
  ];
  return { from: email, to, raw: raw.join('\r\n') };
}

function bounceOf({ bounceTo, email }: Reader): OutgoingEmail {
  const raw = [
    'From: MAILER-DAEMON@mx.home.test',
    'Subject: Undelivered',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="B"',
    '',
    '--B',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.home.test',
    '',
    `Final-Recipient: rfc822; ${email}`,
    'Action: failed',
    'Status: 5.2.2',
    'Diagnostic-Code: smtp; 552 5.2.2 Over quota',
    '',
    '--B--',
    '',
  ];
  return { from: '', to: bounceTo, raw: raw.join('\r\n') };
}

readCommands((command) => {
  if (command === 'stop') stopping = true;
});
reportReady({ pid: process.pid });
const seen = new Set<string>();
while (!stopping) {
  for (const entry of emails()) {
    if (entry.kind !== 'email' || entry.replyStatus !== 250 || seen.has(entry.messageId)) continue;
    seen.add(entry.messageId);
    inFlight += 1;
    void readEmail(entry).finally(() => (inFlight -= 1));
  }
  await pause(POLL_MS);
}
while (inFlight > 0) await pause(POLL_MS);
process.exit();
