import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { World } from './world.ts';

/** One kind of expensive request: who can send it, and the most expensive form within the limits. */
export type Input = {
  name: string;
  by: 'stranger' | 'API key' | 'viewer' | 'editor' | 'recipient' | 'mail server';
  /** How long `GET /livez` may wait beside thirty of them. */
  livezMaxMs: number;
  /** Sends one and returns the status. */
  send(world: World): Promise<number>;
};

const MIB = 1024 * 1024;
const LIVEZ_MAX_MS = 250;
const BESIDE_TEMPLATES_MS = 100;
const JSON_TYPE = { 'content-type': 'application/json' };

export function expensiveInputs(): Input[] {
  return [...strangers(), ...keyHolders(), ...templates(), ...queries(), ...recipients(), ...mails()];
}

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

function strangers(): Input[] {
  const long = JSON.stringify({ email: 'ada@example.com', password: 'x'.repeat(MIB - 100) });
  const deep = `{"email":"ada@example.com","password":${nested(500_000)}}`;
  const byStranger = (name: string, path: string, body: string): Input => ({
    name,
    by: 'stranger',
    livezMaxMs: LIVEZ_MAX_MS,
    send: ({ send, victim }) =>
      send({ what: `POST ${path}`, headers: { ...JSON_TYPE, origin: victim.url }, body }),
  });
  return [
    byStranger('sign-in with 1 MiB of password', '/api/dashboard/sign-in', long),
    byStranger('sign-in with 500,000 brackets', '/api/dashboard/sign-in', deep),
    byStranger(
      'device code with 1 MiB of label',
      '/api/dashboard/device',
      JSON.stringify({ label: 'x'.repeat(MIB) }),
    ),
    byStranger('no key and 10 MiB', '/api/v1/users/bulk', 'x'.repeat(10 * MIB)),
  ];
}

function keyHolders(): Input[] {
  const ofKey = (name: string, endpoint: string, text: string): Input => {
    const body = gzipSync(text);
    return {
      name,
      by: 'API key',
      livezMaxMs: LIVEZ_MAX_MS,
      send: ({ send, secret }) =>
        send({
          what: `POST /api/v1/${endpoint}`,
          headers: {
            ...JSON_TYPE,
            authorization: `Bearer ${secret}`,
            'content-encoding': 'gzip',
            'idempotency-key': randomUUID(),
          },
          body,
        }),
    };
  };
  const user = (n: number, traits: object): object => ({ external_user_id: `cost-${n}`, traits });
  const users = (traits: (n: number) => object): string =>
    JSON.stringify({ users: Array.from({ length: 1_000 }, (_, n) => user(n, traits(n))) });
  const keys = (count: number, value: unknown): object =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, value]));
  return [
    ofKey('4.75 million nested arrays', 'users/bulk', `{"users":${nested(4_750_000)}}`),
    ofKey('3 million empty arrays', 'users/bulk', `{"users":[${'[],'.repeat(3_000_000)}[]]}`),
    ofKey(
      '3 million empty objects in one record',
      'users/bulk',
      `{"users":[{"traits":{"a":[${'{},'.repeat(3_000_000)}{}]}}]}`,
    ),
    ofKey('5 million zeros', 'users/bulk', `{"users":[${'0,'.repeat(5_000_000)}0]}`),
    ofKey(
      'a million keys in one object',
      'users/bulk',
      `{"users":[{"traits":${JSON.stringify(keys(700_000, 1))}}]}`,
    ),
    ofKey('a number of 10 million digits', 'users/bulk', `{"users":[${'9'.repeat(10_000_000)}]}`),
    ofKey('260 kB of brackets in one event', 'events', nested(130_000)),
    ofKey(
      'a valid body of 10 MiB',
      'users/bulk',
      users(() => keys(8, 'x'.repeat(1_200))),
    ),
    ofKey(
      'a valid body of many small values',
      'users/bulk',
      users(() => ({ list: keys(255, [1, 2, 3, 4, 5, 6, 7, 8]) })),
    ),
    ofKey(
      'a valid body of many small lists',
      'users/bulk',
      users(() => keys(255, [[[[[1]]]]])),
    ),
    ofKey(
      'a valid batch of long texts',
      'events/batch',
      JSON.stringify({
        events: Array.from({ length: 100 }, (_, n) => ({
          external_user_id: `cost-${n}`,
          name: 'cost',
          properties: { text: '"\\\u0001'.repeat(7_000) },
        })),
      }),
    ),
  ];
}

/** Two lists that are equal but for their length, compared again and again. */
const COMPARISONS = [
  `{% assign a = "${'x'.repeat(20_000)}" | split: "" %}`,
  `{% assign b = "${'x'.repeat(20_000)}" | split: "" %}`,
  `{% for i in (1..100) %}{% if ${Array.from({ length: 15 }, () => 'a != b').join(' or ')} %}{% endif %}{% endfor %}`,
].join('');
const QUOTES = '<blockquote>'.repeat(3_900) + '<hr>'.repeat(11_500);
const mjml = (body: string, head = ''): string =>
  `<mjml><mj-head>${head}</mj-head><mj-body><mj-section><mj-column>${body}</mj-column></mj-section></mj-body></mjml>`;

const LETTERS: Record<string, { format: string; body: string }> = {
  'comparisons of long lists (H2)': { format: 'markdown', body: COMPARISONS },
  'quotes within quotes (H3)': { format: 'mjml', body: mjml(`<mj-raw>${QUOTES}</mj-raw>`) },
  '7,900 sections (H3)': {
    format: 'mjml',
    body: `<mjml><mj-body>${'<mj-section/>'.repeat(7_600)}</mj-body></mjml>`,
  },
  'inlined styles (H3)': {
    format: 'mjml',
    body: mjml(
      `<mj-raw>${'<a/>'.repeat(10_000)}</mj-raw>`,
      `<mj-style inline="inline">${'a{b:c}'.repeat(6_500)}</mj-style>`,
    ),
  },
  'an MJML tag without an end': { format: 'mjml', body: `<mjml><mj-body><mj${'-a'.repeat(49_000)}` },
  'nested quotes of Markdown': { format: 'markdown', body: `${'> '.repeat(40_000)}x` },
  'nested lists of Markdown': {
    format: 'markdown',
    body: Array.from({ length: 400 }, (_, n) => `${' '.repeat(2 * (n % 100))}- x`).join('\n'),
  },
  'brackets of Markdown': { format: 'markdown', body: '[a]('.repeat(24_000) },
  'loops within loops': {
    format: 'markdown',
    body: '{% for a in (1..100) %}'.repeat(6) + 'x' + '{% endfor %}'.repeat(6),
  },
};

function templates(): Input[] {
  return Object.entries(LETTERS).flatMap(([name, letter]): Input[] => {
    const source = { subject: 'Cost', preheader: '', ...letter };
    const path = (world: World): string => `/projects/${world.victim.projectId}/templates`;
    return [
      {
        name: `preview: ${name}`,
        by: 'viewer',
        livezMaxMs: BESIDE_TEMPLATES_MS,
        send: (world) => world.dashboard(`POST ${path(world)}/cost/preview`, { source }),
      },
      {
        name: `publish: ${name}`,
        by: 'editor',
        livezMaxMs: BESIDE_TEMPLATES_MS,
        send: (world) =>
          world.dashboard(`POST ${path(world)}/cost-${randomUUID().slice(0, 8)}x/publish`, {
            source,
            version: null,
            seen: null,
            follow: false,
          }),
      },
    ];
  });
}

/** A hundred conditions, each of which has to look at every event. */
const CONDITIONS = {
  any: Array.from({ length: 100 }, (_, n) => ({
    event: 'feature_used',
    within: `${n + 1}d`,
    where: [{ property: 'amount', at_least: 1_000 + n }],
  })),
};
const FILTERS = [
  '-email:*@example.com',
  '-email:*a* -email:*b* -email:*c* -id:*d* -id:*e*',
  Array.from({ length: 20 }, (_, n) => `-email:*${n}*`).join(' '),
];

const WORDS = Array.from({ length: 60 }, (_, n) => `*${n}%_`).join(' ');

function queries(): Input[] {
  const byViewer = (name: string, what: (project: string) => string, body?: unknown): Input => ({
    name,
    by: 'viewer',
    livezMaxMs: LIVEZ_MAX_MS,
    send: ({ dashboard, victim }) => dashboard(what(`/projects/${victim.projectId}`), body),
  });
  return [
    ...FILTERS.map((filter) =>
      byViewer(
        `users with ${filter.slice(0, 40)}`,
        (at) => `GET ${at}/users?filter=${encodeURIComponent(filter)}`,
      ),
    ),
    byViewer('preview of an audience of 100 conditions', (at) => `POST ${at}/audiences/preview`, {
      definition: CONDITIONS,
    }),
    byViewer('a sentence of 100 conditions', (at) => `POST ${at}/audiences/sentence`, {
      definition: CONDITIONS,
    }),
    ...['users', 'users.csv', 'emails', 'requests', 'suppressions', 'drafts', 'stream'].map((list) =>
      byViewer(
        `${list} with a filter of many words`,
        (at) => `GET ${at}/${list}?filter=${encodeURIComponent(WORDS)}`,
      ),
    ),
    byViewer('insights', (at) => `GET ${at}/insights`),
    byViewer('home charts', (at) => `GET ${at}/home/charts`),
    byViewer('system', (at) => `GET ${at}/system`),
  ];
}

function recipients(): Input[] {
  // Just below the largest form that is accepted.
  const form = `topic=${'a&topic='.repeat(2_000)}`;
  return [
    {
      name: 'email preferences with 2,000 topics',
      by: 'recipient',
      livezMaxMs: LIVEZ_MAX_MS,
      send: ({ send, preferences }) =>
        send({
          what: `POST /u/${preferences}/topics`,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: form,
        }),
    },
    {
      name: 'email preferences, shown',
      by: 'recipient',
      livezMaxMs: LIVEZ_MAX_MS,
      send: ({ send, preferences }) => send({ what: `GET /u/${preferences}` }),
    },
  ];
}

function mails(): Input[] {
  const head = 'From: eve@home.test\r\nTo: postmaster@in.example.com\r\nSubject: cost\r\n';
  const ofMail = (name: string, text: string): Input => {
    const raw = Buffer.from(text);
    return { name, by: 'mail server', livezMaxMs: LIVEZ_MAX_MS, send: ({ mail }) => mail(raw) };
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
