import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { serverCommand } from '../../../testing/servers/server-command.ts';
import { MAIL_BYTES_MAX } from '../../modules/inbound/classification/read-mail.ts';

const directory = await mkdtemp(join(tmpdir(), 'beckon-mail-in-'));
afterAll(() => rm(directory, { recursive: true }));

const classify = (...args: string[]) => serverCommand({}, ['classify-mail', ...args]);
const fixture = (name: string): string => join(import.meta.dirname, '../../../testing/cases/mail-in', name);

describe('classify-mail', () => {
  test('classifies a message from a file, as text and as JSON', async () => {
    const { json, err, code } = await classify(fixture('postfix-nobody.eml'), '--json');
    expect({ err, code }).toEqual({ err: '', code: 0 });
    expect(json).toEqual({
      kind: 'dsn',
      recipients: [
        {
          class: 'hard',
          final: true,
          status: '5.1.1',
          reason: expect.stringContaining('User unknown') as string,
          address: 'nobody@example.net',
        },
      ],
    });
    expect((await classify(fixture('postfix-nobody.eml'))).out).toMatch(
      /^dsn\nclass +final +status +reason +address\nhard /,
    );
    expect((await classify(fixture('reply-gmail.eml'))).out).toBe('reply\n');
  });

  test('refuses a missing file, a folder and a message that is too large', async () => {
    const large = join(directory, 'large.eml');
    await writeFile(large, Buffer.alloc(MAIL_BYTES_MAX + 1, 'a'));
    for (const [path, problem] of [
      [join(directory, 'none.eml'), 'cannot be read'],
      [directory, 'cannot be read'],
      [large, 'is larger than'],
    ] as const)
      expect(await classify(path)).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringContaining(problem) as string,
      });
  });
});
