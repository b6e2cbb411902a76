import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { silentLog } from '../../packages/server/src/platform/log.ts';
import { composeMail } from '../../packages/server/src/platform/mail/compose.ts';
import { openRelay } from '../../packages/server/src/platform/mail/relay.ts';
import { classifyReply } from '../../packages/server/src/modules/outcomes/bounces/classify-reply.ts';
import type { Attack, Finding, Target } from './attack.ts';
import { hostileAddresses, mailPayloads, SMUGGLED_ENDS } from './mail-payloads.ts';
import { runTests } from './run-tests.ts';

export const s07: Attack = {
  id: 'S7',
  title: 'mail: header fields, recipients and end-of-email markers injected, emails smuggled in and out',
  passLine:
    '500 texts: the recipients are the intended ones, one email each, no bare CR or LF on the wire; 0 smuggled',
  quick: true,
  async run(target) {
    return [
      ...(await handHostile(target)),
      ...(await smuggleIn(target)),
      ...(await runTests(target, [
        'packages/server/src/modules/delivery/hostile-values.test.ts',
        'packages/server/src/platform/mail/compose.test.ts',
        'packages/server/src/modules/inbound/replies/compose-forward.test.ts',
        'packages/server/src/modules/inbound/mail/forged.test.ts',
        'packages/server/src/modules/inbound/mail/limits.test.ts',
      ])),
    ];
  },
};

type Recording = { commands: string[]; emails: string[] };

/** Starts a mail server that accepts everything and keeps every byte. It splits lines by CRLF alone, as the standard requires. */
async function startSmtpRecorder(): Promise<{ port: number; recording: Recording; server: Server }> {
  const recording: Recording = { commands: [], emails: [] };
  const server = createServer((socket) => {
    let rest = '';
    let inEmail = false;
    socket.setEncoding('latin1');
    socket.on('error', () => socket.destroy());
    const step = (): boolean => {
      const end = inEmail ? rest.indexOf('\r\n.\r\n') : rest.indexOf('\r\n');
      if (end < 0) return false;
      const text = rest.slice(0, end);
      rest = rest.slice(end + (inEmail ? 5 : 2));
      if (inEmail) recording.emails.push(text);
      else recording.commands.push(text);
      const isData = !inEmail && /^DATA$/i.test(text);
      socket.write(
        isData
          ? '354 go on\r\n'
          : /^EHLO/i.test(text) && !inEmail
            ? '250-ear\r\n250 8BITMIME\r\n'
            : '250 2.0.0 ok\r\n',
      );
      inEmail = isData;
      return true;
    };
    socket.on('data', (text: string) => {
      rest += text;
      while (step());
    });
    socket.write('220 ear\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, recording, server };
}

/** Puts every text into every part of an email that strangers can fill, and tries every address as a recipient. */
async function handHostile(target: Target): Promise<Finding[]> {
  const { port, recording, server } = await startSmtpRecorder();
  const relay = openRelay({ url: `smtp://127.0.0.1:${port}`, log: silentLog, classify: classifyReply });
  const findings: Finding[] = [];
  const payloads = mailPayloads();
  try {
    for (const [n, text] of payloads.entries()) {
      recording.commands.length = 0;
      recording.emails.length = 0;
      const to = `ada${n}@home.test`;
      const composed = await composeMail(outgoingEmail(n, to, text), null)
        .then((mime) => relay.submit({ from: 'b+1@bounce.shop.test', to, envid: null }, mime))
        .then(() => true)
        .catch(() => false);
      target.count(composed ? 'hostile texts submitted' : 'hostile texts refused');
      findings.push(...checkRecording(recording, { to: composed ? [to] : [], text }));
    }
    for (const address of hostileAddresses) {
      recording.commands.length = 0;
      recording.emails.length = 0;
      const to = 'ada@home.test';
      const mime = await composeMail(outgoingEmail(0, to, 'Hello'), null);
      const result = await relay
        .submit({ from: 'b+1@bounce.shop.test', to: address, envid: null }, mime)
        .catch(() => null);
      target.count('hostile recipients');
      const named = recording.commands.filter((line) => /^RCPT/i.test(line));
      if (named.length > 1 || named.some((line) => !line.includes(`<${address}>`)))
        findings.push({
          severity: 'high',
          title: `a recipient became another: ${JSON.stringify(address)}`,
          evidence: `${named.join(' | ')} ${JSON.stringify(result)}`,
        });
    }
  } finally {
    await relay.close(0);
    server.close();
  }
  if (payloads.length < 500) findings.push({ severity: 'medium', title: `only ${payloads.length} texts` });
  return findings;
}

function outgoingEmail(n: number, to: string, text: string): Parameters<typeof composeMail>[0] {
  return {
    messageId: `${n}@shop.test`,
    date: new Date(0),
    from: { name: text, address: 'hello@shop.test' },
    to: { name: text, address: to },
    replyTo: { name: text, address: 'help@shop.test' },
    subject: text,
    html: `<p>${text}</p>`,
    text,
    headers: [{ name: 'List-Id', value: '<news.shop.test>' }],
  };
}

const EXPECTED = new Set([
  'from',
  'to',
  'reply-to',
  'subject',
  'date',
  'message-id',
  'list-id',
  'mime-version',
  'content-type',
]);

function checkRecording(
  { commands, emails }: Recording,
  { to, text }: { to: string[]; text: string },
): Finding[] {
  const excerpt = JSON.stringify(text).slice(0, 100);
  const rcpt = commands
    .filter((line) => /^RCPT/i.test(line))
    .map((line) => /<([^>]*)>/.exec(line)?.[1] ?? line);
  const strange = commands.filter((line) => !/^(?:EHLO|MAIL FROM|RCPT TO|DATA|RSET|QUIT|NOOP)\b/i.test(line));
  const problems: string[] = [];
  if (rcpt.join() !== to.join()) problems.push(`recipients ${rcpt.join()}`);
  if (emails.length !== to.length) problems.push(`${emails.length} emails`);
  if (strange.length > 0) problems.push(`commands ${strange.join(' | ')}`);
  for (const email of emails) {
    if (/(?<!\r)\n|\r(?!\n)/.test(email)) problems.push('a bare CR or LF');
    const names = headOf(email).map((line) => line.split(':')[0]?.toLowerCase() ?? '');
    const more = names.filter((name) => !EXPECTED.has(name));
    if (more.length > 0 || names.length !== EXPECTED.size) problems.push(`fields ${names.join()}`);
    if (
      /smuggled/i.test(
        headOf(email)
          .filter((line) => !/^(?:from|to|reply-to|subject):/i.test(line))
          .join(),
      )
    )
      problems.push('a field');
  }
  return problems.map((problem) => ({ severity: 'high', title: `${problem} by ${excerpt}` }));
}

/** Returns the header fields of an email, each unfolded into one line. */
function headOf(email: string): string[] {
  const [head = ''] = email.split('\r\n\r\n', 1);
  return head.replaceAll(/\r\n[ \t]/g, ' ').split('\r\n');
}

/** Checks that text behind a false end of message stays part of the message: one response, and no second email. */
async function smuggleIn(target: Target): Promise<Finding[]> {
  const victim = await target.sharedVictim();
  const findings: Finding[] = [];
  for (const end of SMUGGLED_ENDS) {
    const socket = connect(victim.mailInPort, '127.0.0.1');
    socket.setEncoding('latin1');
    let received = '';
    socket.on('data', (text: string) => (received += text));
    socket.on('error', () => socket.destroy());
    const until = async (pattern: RegExp): Promise<void> => {
      for (let polls = 0; polls < 500 && !pattern.test(received) && !socket.destroyed; polls += 1)
        await new Promise((resolve) => setTimeout(resolve, 20));
    };
    await until(/^220 .*\r\n/);
    for (const [line, answer] of [
      ['EHLO mx.home.test', /^250 .*\r\n$/m],
      ['MAIL FROM:<eve@home.test>', /2\d\d.*\r\n$/],
      ['RCPT TO:<postmaster@in.example.com>', /2\d\d.*\r\n$/],
      ['DATA', /354.*\r\n$/],
    ] as const) {
      received = '';
      socket.write(`${line}\r\n`);
      await until(answer);
    }
    if (!received.startsWith('354'))
      findings.push({
        severity: 'medium',
        title: 'no email was accepted, so none could be smuggled in',
        evidence: received,
      });
    received = '';
    const second =
      'MAIL FROM:<eve@evil.test>\r\nRCPT TO:<postmaster@in.example.com>\r\nDATA\r\nSubject: smuggled\r\n\r\nx';
    socket.write(`Subject: first\r\n\r\nhello${end}${second}\r\n.\r\nNOOP\r\n`, 'latin1');
    await until(/\r\n[^]*\r\n/);
    socket.destroy();
    target.count('invalid message ends');
    // One response to the message and one to NOOP. Refusing such bytes is just as good.
    const answers = received.split('\r\n').filter((line) => /^\d{3} /.test(line));
    if (answers.some((line) => line.startsWith('354')) || answers.length > 2)
      findings.push({
        severity: 'high',
        title: `an email was smuggled in behind ${JSON.stringify(end)}`,
        evidence: received,
      });
  }
  return findings;
}
