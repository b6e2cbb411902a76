import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Ran, typed } from '../../testkit/typed-command.ts';
import { MAIL_BYTES_MAX } from '../base/mail-in/index.ts';
import type { Database } from '../io/db/index.ts';

const directory = await mkdtemp(join(tmpdir(), 'beckon-mail-in-'));
afterAll(() => rm(directory, { recursive: true }));

/** It opens no installation, so that none is needed. */
const classify = (file: string, ...args: string[]): Promise<Ran> =>
  typed({ db: undefined as unknown as Database }, ['mail-in', 'classify', '--file', file, ...args]);
const fixture = (name: string): string => join(import.meta.dirname, '../../testkit/mail-in', name);

test('a message is classified from a file, for people and as JSON', async () => {
  const said = await classify(fixture('postfix-nobody.eml'), '--json');
  expect(said).toMatchObject({ err: '', code: 0 });
  expect(said.json).toEqual({
    kind: 'dsn',
    recipients: [
      {
        class: 'hard',
        final: true,
        status: '5.1.1',
        reason: expect.stringContaining('User unknown'),
        address: 'nobody@example.net',
      },
    ],
  });
  expect((await classify(fixture('postfix-nobody.eml'))).out).toMatch(
    /^dsn\nclass +final +status +reason +address\nhard /,
  );
  expect((await classify(fixture('reply-gmail.eml'))).out).toBe('reply\n');
});

test('a file that is missing, no file or too large says so', async () => {
  expect(await classify(join(directory, 'none.eml'))).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('cannot be read'),
  });
  expect(await classify(directory)).toMatchObject({
    code: 1,
    err: expect.stringContaining('cannot be read'),
  });
  const large = join(directory, 'large.eml');
  await writeFile(large, Buffer.alloc(MAIL_BYTES_MAX + 1, 'a'));
  expect(await classify(large)).toMatchObject({ code: 1, err: expect.stringContaining('is larger than') });
});
