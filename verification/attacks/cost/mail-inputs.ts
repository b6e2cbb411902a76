import { BUSY, type Input, LIVEZ_MAX_MS } from './input.ts';

export function recipients(): Input[] {
  // Just below the largest form that is accepted.
  const form = `topic=${'a&topic='.repeat(2_000)}`;
  return [
    {
      name: 'email preferences with 2,000 topics',
      sender: 'recipient',
      livezMaxMs: LIVEZ_MAX_MS,
      expectedStatuses: [200],
      mayGet: BUSY,
      send: ({ send, preferences }) =>
        send({
          requestLine: `POST /u/${preferences}/topics`,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: form,
        }),
    },
    {
      name: 'email preferences, shown',
      sender: 'recipient',
      livezMaxMs: LIVEZ_MAX_MS,
      expectedStatuses: [200],
      mayGet: BUSY,
      send: ({ send, preferences }) => send({ requestLine: `GET /u/${preferences}` }),
    },
  ];
}

export function emailInputs(): Input[] {
  const head = 'From: eve@home.test\r\nTo: postmaster@in.example.com\r\nSubject: cost\r\n';
  const ofMail = (name: string, text: string): Input => {
    const raw = Buffer.from(text);
    return {
      name,
      sender: 'mail server',
      livezMaxMs: LIVEZ_MAX_MS,
      expectedStatuses: [250],
      // Too many bytes at once. The sending server retries.
      mayGet: [451, 452],
      send: ({ submitEmail }) => submitEmail(raw),
    };
  };
  const multipart = (boundary: string): string =>
    `MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="${boundary}"\r\n\r\n`;
  const levels = Array.from(
    { length: 200 },
    (_, n) => `--b${n}\r\nContent-Type: multipart/mixed; boundary="b${n + 1}"\r\n\r\n`,
  );
  return [
    ofMail('200,000 short lines', `${head}\r\n${'x\r\n'.repeat(200_000)}`),
    ofMail('8 MiB of HTML', `${head}Content-Type: text/html\r\n\r\n${'<b><i><p>x\r\n'.repeat(700_000)}`),
    ofMail('20,000 parts', `${head}${multipart('b')}${'--b\r\n\r\nx\r\n'.repeat(20_000)}--b--`),
    ofMail('200 parts within each other', `${head}${multipart('b0')}${levels.join('')}x`),
    ofMail('10,000 header fields', `${head}${'X-Y: z\r\n'.repeat(10_000)}\r\nx`),
    ofMail(
      '125 kB of open groups as recipients',
      `From: eve@home.test\r\nTo: ${'a:'.repeat(62_500)}\r\nSubject: cost\r\n\r\nx`,
    ),
    ofMail(
      '100 signatures',
      `${`DKIM-Signature: v=1; a=rsa-sha256; d=home.test; s=s; h=from; bh=AAAA; b=AAAA\r\n`.repeat(100)}${head}\r\nx`,
    ),
    ofMail('quotes of quotes', `${head}\r\n${`${'>'.repeat(200)} x\r\n`.repeat(20_000)}`),
    ofMail(
      'a report of 20,000 recipients',
      [
        'From: mailer-daemon@home.test\r\nTo: postmaster@in.example.com\r\nMIME-Version: 1.0\r\n',
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\r\n\r\n--b\r\n\r\nfailed\r\n--b\r\n',
        'Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; home.test\r\n\r\n',
        'Final-Recipient: rfc822; a@home.test\r\nAction: failed\r\nStatus: 5.1.1\r\nDiagnostic-Code: smtp; 550 no\r\n\r\n'.repeat(
          20_000,
        ),
        '--b--\r\n',
      ].join(''),
    ),
  ];
}
