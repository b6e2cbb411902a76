import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { testCases } from '../../testkit/cases.ts';
import { testShell } from '../../testkit/shell.ts';
import { testWorld } from '../../testkit/world.ts';

const folder = mkdtempSync(join(tmpdir(), 'beckon-reply-source-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const world = await testWorld();
const local = testShell({ DATA_DIR: await world.localSocket() });
const secrets = join(folder, 'secrets.json');
writeFileSync(secrets, JSON.stringify({ password: 'correct-horse' }));
const mailbox = '--set host=127.0.0.1 --set port=1 --set username=replies@example.com';

describe('reply source', () => {
  testCases(local, [
    { run: 'replies source', shows: /No reply source yet/, json: { source: null } },
    { run: 'replies set-source pigeon', fails: [2, /Unknown kind pigeon\. Use one of imap/] },
    { run: `replies set-source imap ${mailbox} --set password=x`, fails: [2, /password is secret/] },
    { run: `replies set-source imap ${mailbox} --json`, fails: [2, /Password is required/] },
    {
      run: `replies set-source imap ${mailbox} --secrets-file ${secrets}`,
      json: { source: { kind: 'imap', settings: { port: '1' } } },
    },
    {
      run: 'replies set-source imap --set folder=Replies',
      json: { source: { settings: { folder: 'Replies', username: 'replies@example.com' } } },
    },
    { run: 'replies set-source postmark', shows: /\/hooks\/replies\// },
    { run: 'replies delete-source --yes', shows: /Deleted the reply source/ },
    { run: 'replies delete-source --yes', fails: [1, /no reply source/] },
  ]);

  test('test-source ends with 1 if the mailbox cannot be reached', async () => {
    const options = mailbox.split(' ');
    await local.json(['replies', 'set-source', 'imap', ...options, '--secrets-file', secrets]);
    const { code, out } = await local.run(['replies', 'test-source']);
    expect([code, out]).toEqual([1, expect.stringMatching(/^Failed: The connection failed/)]);
  });
});
