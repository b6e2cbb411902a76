import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cellsOf, readRows, recordOfCells, targetOf } from '@beckon/contract/files';
import { readWebhookSecret, verifyWebhook } from '@beckon/contract/signature';
import { classifyReply } from '../../../packages/server/src/modules/outcomes/bounces/classify-reply.ts';
import { parseDuration, parseInstant } from '../../../packages/server/src/platform/time/time-text.ts';
import { readEmailToken } from '../../../packages/server/src/platform/crypto/email-token.ts';
import { classifyMail } from '../../../packages/server/src/modules/inbound/classification/classify-mail.ts';
import { readMail } from '../../../packages/server/src/modules/inbound/classification/read-mail.ts';
import {
  replyText,
  snippetOf,
} from '../../../packages/server/src/modules/inbound/classification/reply-text.ts';
import { parsePredicate } from '../../../packages/server/src/platform/predicate/parse.ts';
import { readEvent, readUser } from '../../../packages/server/src/platform/records/record.ts';
import {
  assessDkim,
  assessDmarc,
} from '../../../packages/server/src/modules/sending/domains/check-tagged-records.ts';
import { readSpf } from '../../../packages/server/src/modules/sending/domains/check-spf.ts';
import { readDomainName } from '../../../packages/server/src/modules/sending/domains/domain.ts';
import { readIdempotencyKey } from '../../../packages/server/src/modules/ingest/idempotency/key.ts';
import { parseRule } from '../../../packages/server/src/modules/rules/definitions/parse.ts';
import { SHIPPED_RULES } from '../../../packages/server/src/modules/rules/definitions/shipped.ts';
import { momentOf, readStreamFilter } from '../../../packages/server/src/modules/ingest/activity/stream.ts';
import { readRetryAfter } from '../../../packages/server/src/modules/webhooks/deliveries/schedule.ts';
import { readTemplate } from '../../../packages/server/src/modules/templates/write-template.ts';
import { readPage } from '../../../packages/server/src/modules/workspace/dashboard-api/pages.ts';
import { runSteps } from '../../../packages/server/src/platform/time/steps.ts';
import { readBatch, readBulk, readSingle } from '../../../packages/server/src/modules/ingest/api/envelope.ts';
import { authenticateMail } from '../../../packages/server/src/modules/inbound/mail/authenticate.ts';
import { isQuick } from '../../../packages/server/src/modules/inbound/mail/reader.ts';
import { checkUrl } from '../../../packages/server/src/platform/outbound/check-url.ts';
import { hostileAddresses } from '../mail-payloads.ts';
import { URLS } from '../url-corpus.ts';

/** A parser of input from strangers. It may refuse the input. If it refuses by throwing, it throws a `Fault`. */
export type Parser = {
  name: string;
  seeds: () => Buffer[];
  /** The largest input that a stranger can have it read. */
  bytesMax: number;
  parse: (bytes: Buffer) => unknown;
  /** Returns whether the input is parsed in a thread of its own, within limits of time and memory. Such input blocks no other work. */
  isApart?: (bytes: Buffer) => boolean;
};

const KIB = 1024;
const NOW = Date.UTC(2026, 0, 15, 12);
const READ = { now: NOW, checkStrings: true };
const text = (bytes: Buffer): string => bytes.toString('utf8');
const header = (bytes: Buffer): string => bytes.toString('latin1');
const buffers = (texts: readonly string[]): Buffer[] => texts.map((item) => Buffer.from(item));
const json = (...values: unknown[]): Buffer[] => values.map((value) => Buffer.from(JSON.stringify(value)));

/** Wraps a reader of parsed JSON. Input that is not JSON is refused before it reaches the reader. */
function parserOf(read: (value: unknown) => unknown): (bytes: Buffer) => unknown {
  return (bytes) => {
    let value: unknown;
    try {
      value = JSON.parse(text(bytes));
    } catch {
      return null;
    }
    return read(value);
  };
}

function isBody(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const USER = {
  external_user_id: 'u',
  email: 'ada@example.com',
  traits: { plan: 'pro', n: 1, list: [1, 'two', null] },
};
const EVENT = {
  external_user_id: 'u',
  name: 'report_shared',
  occurred_at: '2026-01-15T10:00:00Z',
  properties: { a: { b: [] } },
};

function emails(): Buffer[] {
  const folder = join(import.meta.dirname, '../../../packages/server/testing/cases/mail-in');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.eml'))
    .map((name) => readFileSync(join(folder, name)));
}

function refusals(): Buffer[] {
  const file = join(import.meta.dirname, '../../../packages/server/testing/cases/refusals/refusals.txt');
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .slice(0, 500)
    .map((line) => Buffer.from(line));
}

function guide(name: string): Buffer[] {
  const page = readFileSync(join(import.meta.dirname, `../../../docs/${name}.md`), 'utf8');
  return [...page.matchAll(/`(\{[^`\n]*\})`|```json\n([\s\S]*?)\n```/g)].map(([, row, block]) =>
    Buffer.from(row ?? block ?? ''),
  );
}

export const PARSERS: Parser[] = [
  {
    name: 'JSON bodies and records',
    bytesMax: 64 * KIB,
    seeds: () =>
      json(
        USER,
        EVENT,
        { events: [EVENT, EVENT] },
        { users: [USER, { ...USER, email: 'x' }] },
        { events: [EVENT], import: { id: 'x' } },
      ),
    parse: parserOf((value) => {
      if (!isBody(value)) return null;
      return [
        readSingle(value, readUser, READ),
        readSingle(value, readEvent, READ),
        runSteps(readBatch(value, readEvent, READ)),
        runSteps(readBulk(value, readUser, { ...READ, field: 'users' })),
        runSteps(readBulk(value, readEvent, { ...READ, field: 'events' })),
      ];
    }),
  },
  {
    name: 'Retry-After',
    bytesMax: 16 * KIB,
    seeds: () =>
      buffers([
        '120',
        '0',
        '-1',
        '1e9',
        '999999999',
        'Wed, 21 Oct 2026 07:28:00 GMT',
        'Sun Nov  6 08:49:37 1994',
        ' 5 ',
      ]),
    parse: (bytes) => readRetryAfter(header(bytes), NOW),
  },
  {
    name: 'MIME and email content',
    bytesMax: 64 * KIB,
    seeds: emails,
    isApart: (bytes) => !isQuick(bytes),
    parse: async (bytes) => {
      const email = await readMail(bytes);
      return [classifyMail(email), snippetOf(replyText(email))];
    },
  },
  {
    name: 'DSN and other reports',
    bytesMax: 64 * KIB,
    seeds: () =>
      emails().filter((raw) => /message\/(?:delivery-status|feedback-report)/i.test(raw.toString('latin1'))),
    isApart: (bytes) => !isQuick(bytes),
    parse: async (bytes) => classifyMail(await readMail(bytes)),
  },
  {
    name: 'signatures of mails',
    bytesMax: 64 * KIB,
    seeds: () => emails().slice(0, 20),
    parse: (bytes) =>
      authenticateMail(
        {
          raw: bytes,
          remote: '192.0.2.1',
          isNear: false,
          helo: 'mx.example',
          from: 'a@example.com',
          author: 'a@example.com',
        },
        () => Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' })),
      ),
  },
  {
    name: 'refusals of mail servers',
    bytesMax: 16 * KIB,
    seeds: refusals,
    parse: (bytes) => classifyReply({ stage: 'rcpt', code: 550, reply: text(bytes) }),
  },
  {
    name: 'addresses of webhooks',
    bytesMax: 8 * KIB,
    seeds: () => buffers([...URLS, 'https://hooks.example.com/x?y=1#z', 'https://bücher.example:8443/']),
    parse: (bytes) => [
      checkUrl(text(bytes), { allowPrivate: false }),
      checkUrl(text(bytes), { allowPrivate: true }),
    ],
  },
  {
    name: 'Idempotency-Key',
    bytesMax: 16 * KIB,
    seeds: () =>
      buffers(['8e03978e-40d5-43e8-bc93-6894a57f9324', '"quoted"', 'order-17', '"', '""', 'x'.repeat(255)]),
    parse: (bytes) => readIdempotencyKey(header(bytes)),
  },
  {
    name: 'cursors',
    bytesMax: 4 * KIB,
    seeds: () =>
      buffers([
        Buffer.from('["2026-01-15T10:00:00.000Z","0198a000-0000-7000-8000-00000000000f"]').toString(
          'base64url',
        ),
        Buffer.from('mk5x3k00.0198a000000070008000000000000f0f').toString('base64url'),
        'WzFd',
      ]),
    parse: (bytes) => [
      nullIfRefused(() => readPage({ cursor: text(bytes) }, 2)),
      nullIfRefused(() => momentOf(text(bytes))),
    ],
  },
  {
    name: 'filters of lists',
    bytesMax: 4 * KIB,
    seeds: () =>
      buffers([
        'type:request',
        '-name:"a b" user:u*',
        'status:4* code:x endpoint:events',
        'a:(b OR c)',
        '"unclosed',
      ]),
    parse: (bytes) => nullIfRefused(() => readStreamFilter(text(bytes))),
  },
  {
    name: 'CSV',
    bytesMax: 64 * KIB,
    seeds: () =>
      buffers([
        'id,email,plan\nu1,a@example.com,pro\n',
        'id;name\r\n"a;b";"c""d"\r\n',
        'id,"never closed\n1,2\n',
        '\uFEFFid\n5" pipe\n',
        'a,b\n\n\n,,,,\n',
      ]),
    parse: async (bytes) => {
      const columns = ['external_user_id', 'email', 'plan'].map((name) => ({
        target: targetOf('users', name),
        type: 'auto' as const,
      }));
      const rules = { kind: 'users' as const, eventName: null };
      for await (const rows of readRows(inPieces(bytes), { from: { at: 0, line: 1 }, delimiter: ',' }))
        for (const row of rows)
          if (row.text !== null) recordOfCells(cellsOf(row.text, ','), columns, rules as never);
    },
  },
  {
    name: 'audiences',
    bytesMax: 64 * KIB,
    seeds: () => guide('audiences'),
    parse: parserOf(parsePredicate),
  },
  {
    name: 'rules',
    bytesMax: 64 * KIB,
    seeds: () => [...guide('rules'), ...json(...SHIPPED_RULES)],
    parse: parserOf((value) => nullIfRefused(() => parseRule(value))),
  },
  {
    name: 'templates',
    bytesMax: 64 * KIB,
    seeds: () =>
      json({
        name: 'a',
        subject: 'Hi {{ user.name | default: "you" }}',
        body: '# Hello\n\n{% if x %}y{% endif %}',
      }),
    parse: parserOf((value) => nullIfRefused(() => readTemplate(value))),
  },
  {
    name: 'DNS records (DKIM, DMARC, SPF)',
    bytesMax: 8 * KIB,
    seeds: () =>
      buffers([
        'v=DKIM1; k=rsa; p=MIIBIjANBg',
        'v=DMARC1; p=none; rua=mailto:a@b.c',
        'v=spf1 include:_spf.a.test ip4:192.0.2.0/24 -all',
        'v=spf1 redirect=b.test',
        'v=DKIM1\\; t=y:s; p=',
      ]),
    parse: (bytes) => {
      const value = text(bytes);
      return [
        assessDkim('v=DKIM1; k=rsa; p=MIIBIjANBg', [value]),
        assessDmarc([value], false),
        readSpf('a.test', '_spf.relay.test', () => ({ kind: 'found', values: [value] })),
      ];
    },
  },
  {
    name: 'names of domains',
    bytesMax: 4 * KIB,
    seeds: () =>
      buffers([
        'mail.example.com',
        'bücher.example',
        'xn--bcher-kva.example',
        '.',
        'a..b',
        ...hostileAddresses,
      ]),
    parse: (bytes) => nullIfRefused(() => readDomainName(text(bytes))),
  },
  {
    name: 'tokens of emails',
    bytesMax: 4 * KIB,
    seeds: () => buffers([Buffer.alloc(45, 7).toString('base64url'), 'a'.repeat(60)]),
    parse: (bytes) => readEmailToken(text(bytes), 'open', [Buffer.alloc(32, 1)]),
  },
  {
    name: 'signatures of webhooks',
    bytesMax: 16 * KIB,
    seeds: () => buffers(['t=1768478400,v1=00', 't=1768478400,v1=aa,v1=bb', 'v1,AAAA v1,BBBB', 'whsec_AAAA']),
    parse: (bytes) => {
      const parsed = header(bytes);
      readWebhookSecret(parsed);
      const headers = {
        'x-service-signature': parsed,
        'webhook-id': 'msg_1',
        'webhook-timestamp': parsed,
        'webhook-signature': parsed,
      };
      return verifyWebhook({
        headers,
        body: parsed,
        secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
        now: NOW,
      } as never);
    },
  },
  {
    name: 'durations and moments',
    bytesMax: 4 * KIB,
    seeds: () =>
      buffers(['4h', '30m', '1d', '2026-01-15T10:00:00Z', '2026-01-15', '1e9d', '2026-13-45T99:99:99+99:99']),
    parse: (bytes) => [parseDuration(text(bytes)), parseInstant(text(bytes))],
  },
];

/** Treats a thrown `Fault` as a refusal. Any other error propagates. */
function nullIfRefused<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && error.name === 'Fault') return null;
    throw error;
  }
}

async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000);
}
