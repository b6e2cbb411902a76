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

type Heard = { commands: string[]; emails: string[] };

/** Starts a mail server that accepts everything and keeps every byte. It splits lines by CRLF alone, as the standard requires. */
async function startEar(): Promise<{ port: number; heard: Heard; server: Server }> {
  const heard: Heard = { commands: [], emails: [] };
  const server = createServer((socket) => {
    let held = '';
    let inEmail = false;
    socket.setEncoding('latin1');
    socket.on('error', () => socket.destroy());
    const step = (): boolean => {
      const end = inEmail ? held.indexOf('\r\n.\r\n') : held.indexOf('\r\n');
      if (end < 0) return false;
      const text = held.slice(0, end);
      held = held.slice(end + (inEmail ? 5 : 2));
      if (inEmail) heard.emails.push(text);
      else heard.commands.push(text);
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
      held += text;
      while (step());
    });
    socket.write('220 ear\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, heard, server };
}

/** Puts every text into every part of an email that strangers can fill, and tries every address as a recipient. */
async function handHostile(target: Target): Promise<Finding[]> {
  const { port, heard, server } = await startEar();
  const relay = openRelay({ url: `smtp://127.0.0.1:${port}`, log: silentLog, classify: classifyReply });
  const findings: Finding[] = [];
  const payloads = mailPayloads();
  try {
    for (const [n, text] of payloads.entries()) {
      heard.commands.length = 0;
      heard.emails.length = 0;
      const to = `ada${n}@home.test`;
      const handed = await composeMail(outgoingEmail(n, to, text), null)
        .then((mime) => relay.submit({ from: 'b+1@bounce.shop.test', to, envid: null }, mime))
        .then(() => true)
        .catch(() => false);
      target.count(handed ? 'hostile texts handed over' : 'hostile texts refused');
      findings.push(...judgeWire(heard, { to: handed ? [to] : [], text }));
    }
    for (const address of hostileAddresses) {
      heard.commands.length = 0;
      heard.emails.length = 0;
      const to = 'ada@home.test';
      const mime = await composeMail(outgoingEmail(0, to, 'Hello'), null);
      const result = await relay
        .submit({ from: 'b+1@bounce.shop.test', to: address, envid: null }, mime)
        .catch(() => null);
      target.count('hostile recipients');
      const named = heard.commands.filter((line) => /^RCPT/i.test(line));
      if (named.length > 1 || named.some((line) => !line.includes(`<${address}>`)))
        findings.push({
          severity: 'high',
          what: `a recipient became another: ${JSON.stringify(address)}`,
          evidence: `${named.join(' | ')} ${JSON.stringify(result)}`,
        });
    }
  } finally {
    await relay.close(0);
    server.close();
  }
  if (payloads.length < 500) findings.push({ severity: 'medium', what: `only ${payloads.length} texts` });
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

function judgeWire({ commands, emails }: Heard, { to, text }: { to: string[]; text: string }): Finding[] {
  const shown = JSON.stringify(text).slice(0, 100);
  const rcpt = commands
    .filter((line) => /^RCPT/i.test(line))
    .map((line) => /<([^>]*)>/.exec(line)?.[1] ?? line);
  const strange = commands.filter((line) => !/^(?:EHLO|MAIL FROM|RCPT TO|DATA|RSET|QUIT|NOOP)\b/i.test(line));
  const found: string[] = [];
  if (rcpt.join() !== to.join()) found.push(`recipients ${rcpt.join()}`);
  if (emails.length !== to.length) found.push(`${emails.length} emails`);
  if (strange.length > 0) found.push(`commands ${strange.join(' | ')}`);
  for (const email of emails) {
    if (/(?<!\r)\n|\r(?!\n)/.test(email)) found.push('a bare CR or LF');
    const names = headOf(email).map((line) => line.split(':')[0]?.toLowerCase() ?? '');
    const more = names.filter((name) => !EXPECTED.has(name));
    if (more.length > 0 || names.length !== EXPECTED.size) found.push(`fields ${names.join()}`);
    if (
      /smuggled/i.test(
        headOf(email)
          .filter((line) => !/^(?:from|to|reply-to|subject):/i.test(line))
          .join(),
      )
    )
      found.push('a field');
  }
  return found.map((what) => ({ severity: 'high', what: `${what} by ${shown}` }));
}

/** Returns the header fields of an email, each unfolded into one line. */
function headOf(email: string): string[] {
  const [head = ''] = email.split('\r\n\r\n', 1);
  return head.replaceAll(/\r\n[ \t]/g, ' ').split('\r\n');
}

/** Checks that text behind a false end of message stays part of the message: one response, and no second email. */
async function smuggleIn(target: Target): Promise<Finding[]> {
  const victim = await target.shared();
  const findings: Finding[] = [];
  for (const end of SMUGGLED_ENDS) {
    const socket = connect(victim.mailInPort, '127.0.0.1');
    socket.setEncoding('latin1');
    let said = '';
    socket.on('data', (text: string) => (said += text));
    socket.on('error', () => socket.destroy());
    const until = async (pattern: RegExp): Promise<void> => {
      for (let looks = 0; looks < 500 && !pattern.test(said) && !socket.destroyed; looks += 1)
        await new Promise((resolve) => setTimeout(resolve, 20));
    };
    await until(/^220 .*\r\n/);
    for (const [line, answer] of [
      ['EHLO mx.home.test', /^250 .*\r\n$/m],
      ['MAIL FROM:<eve@home.test>', /2\d\d.*\r\n$/],
      ['RCPT TO:<postmaster@in.example.com>', /2\d\d.*\r\n$/],
      ['DATA', /354.*\r\n$/],
    ] as const) {
      said = '';
      socket.write(`${line}\r\n`);
      await until(answer);
    }
    if (!said.startsWith('354'))
      findings.push({
        severity: 'medium',
        what: 'no email was accepted, so none could be smuggled in',
        evidence: said,
      });
    said = '';
    const second =
      'MAIL FROM:<eve@evil.test>\r\nRCPT TO:<postmaster@in.example.com>\r\nDATA\r\nSubject: smuggled\r\n\r\nx';
    socket.write(`Subject: first\r\n\r\nhello${end}${second}\r\n.\r\nNOOP\r\n`, 'latin1');
    await until(/\r\n[^]*\r\n/);
    socket.destroy();
    target.count('ends that are none');
    // One response to the message and one to NOOP. Refusing such bytes is just as good.
    const answers = said.split('\r\n').filter((line) => /^\d{3} /.test(line));
    if (answers.some((line) => line.startsWith('354')) || answers.length > 2)
      findings.push({
        severity: 'high',
        what: `an email was smuggled in behind ${JSON.stringify(end)}`,
        evidence: said,
      });
  }
  return findings;
}
