import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { classifyMail } from './classify-mail.ts';
import { readMail } from './read-mail.ts';

/**
 * Bounces without a standard report, in the forms of various mail systems, written by hand: `=== name | class address | …`, then the email
 * up to the copy of ours.
 */
const FORMS = readFileSync(join(import.meta.dirname, '../../../../testing/cases/refusals/forms.txt'), 'utf8')
  .split(/^=== /m)
  .slice(1)
  .map((form): [string, string[], string] => {
    const [title = '', ...lines] = form.split('\n');
    const [name = '', ...expected] = title.split(' | ');
    return [name, expected, lines.join('\n')];
  });

const HEAD = 'To: hello@example.com\nContent-Type: text/plain; charset=utf-8\n';
const copyFor = (address: string): string =>
  `\nReceived: from localhost by mx.example.com; Tue, 3 Mar 2026 09:00:00 +0000
From: Acme <hello@example.com>
To: ${address}
Subject: Welcome
Message-ID: <0195-welcome@example.com>

Hello
`;

test.each(FORMS)('%s: finds the recipient and the class', async (_name, expected, text) => {
  const address = expected[0]?.split(' ')[1] ?? '';
  const classification = classifyMail(await readMail(Buffer.from(`${HEAD}${text}${copyFor(address)}`)));
  expect(classification.kind).toBe('dsn');
  expect(
    classification.recipients.map(
      (recipient) => `${recipient.class}${recipient.final ? '' : '-later'} ${recipient.address}`,
    ),
  ).toEqual(expected);
  expect(classification.originalMessageId).toBe('<0195-welcome@example.com>');
});
