import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { classifyMail } from './classify-mail.ts';
import type { MailClassification } from './classification.ts';
import { readMail } from './read-mail.ts';
import { replyText, snippetOf } from './reply-text.ts';

const FOLDERS = [
  join(import.meta.dirname, '../../../../testing/cases/mail-in'),
  ...(process.env.BOUNCE_CORPUS ? [join(process.env.BOUNCE_CORPUS, 'messages')] : []),
];
const MESSAGES = FOLDERS.filter(existsSync).flatMap((folder) =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.eml'))
    .map((file): [string, Buffer] => [file, readFileSync(join(folder, file))]),
);
/** `MAIL_MUTATIONS=100000` is the full run. */
const MUTATIONS = Number(process.env['MAIL_MUTATIONS'] ?? 1_000);
const SEED = Number(process.env['MAIL_SEED'] ?? 1);
const MUTATIONS_TIMEOUT_MS = 3_600_000;

async function classify(raw: Uint8Array): Promise<MailClassification & { snippet: string }> {
  const mail = await readMail(raw);
  return { ...classifyMail(mail), snippet: snippetOf(replyText(mail)) };
}

test.each(MESSAGES)('%s has the same result with any line endings', async (_file, raw) => {
  const lines = raw.toString('latin1').replace(/\r\n?/g, '\n');
  const twin = (end: string): Buffer => Buffer.from(lines.replaceAll('\n', end), 'latin1');
  const classification = await classify(twin('\r\n'));
  expect(await classify(twin('\n'))).toEqual(classification);
  expect(await classify(twin('\r'))).toEqual(classification);
});

type Change = { at: number; length: number; put: Uint8Array; copyFrom: number };

/** Removes bytes, inserts bytes, or copies bytes from elsewhere, so that boundaries, encodings and headers break everywhere. */
const change = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.oneof(fc.nat(3), fc.nat(2_000)),
  put: fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc
      .constantFrom(
        '\r',
        '\n',
        '\r\n\r\n',
        '--',
        '=',
        '=?',
        '"',
        '<',
        '>',
        ':',
        '@',
        '\0',
        'Content-Type: multipart/mixed; boundary=',
        'Content-Transfer-Encoding: base64\n',
        'charset=utf-16',
        'message/rfc822',
        '5.1.1',
        'Final-Recipient:',
      )
      .map((text) => Buffer.from(text)),
  ),
  copyFrom: fc.double({ min: 0, max: 1, noNaN: true }),
});

function mutated(raw: Buffer, changes: Change[]): Buffer {
  let bytes = raw;
  for (const { at, length, put, copyFrom } of changes) {
    const position = Math.floor(at * bytes.length);
    const from = Math.floor(copyFrom * bytes.length);
    const copy = put.length === 0 ? bytes.subarray(from, from + length) : put;
    bytes = Buffer.concat([bytes.subarray(0, position), copy, bytes.subarray(position + length)]);
  }
  return bytes;
}

test(
  `classifies ${MUTATIONS} corrupted messages without failing`,
  { timeout: MUTATIONS_TIMEOUT_MS },
  async () => {
    const CLASSES = ['hard', 'soft', 'policy', 'infrastructure', 'complaint', 'auto_reply', 'delivered'];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...MESSAGES),
        fc.array(change, { minLength: 1, maxLength: 6 }),
        async ([, raw], changes) => {
          const classification = await classify(mutated(raw, changes));
          expect(classification.snippet.length).toBeLessThanOrEqual(500);
          for (const recipient of classification.recipients) expect(CLASSES).toContain(recipient.class);
        },
      ),
      { numRuns: MUTATIONS, seed: SEED, endOnFailure: true },
    );
  },
);

test('classifies any bytes without failing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 3_000 }), async (raw) => void (await classify(raw))),
  );
});
