import { expect, test } from 'vitest';
import { closingPassphrase, openingPassphrase } from './backups.ts';

const RIGHT = 'correct horse battery staple';
const none = { backupPassphrase: null };

function typing(...lines: string[]): (label: string) => Promise<string> {
  return () => Promise.resolve(lines.shift() ?? 'asked too often');
}

test('a new backup requires its passphrase twice, an existing one once', async () => {
  expect(await closingPassphrase(none, typing(RIGHT, RIGHT))).toBe(RIGHT);
  const slip = closingPassphrase(none, typing(RIGHT, 'correct horse battery stapel'));
  await expect(slip).rejects.toMatchObject({ code: 'no_passphrase' });
  expect(await openingPassphrase(none, typing(RIGHT))).toBe(RIGHT);
  await expect(openingPassphrase(none, typing('short'))).rejects.toThrow(/at least 12/);
});

test('BACKUP_PASSPHRASE replaces the prompt, and is named in the error without a terminal', async () => {
  expect(await closingPassphrase({ backupPassphrase: RIGHT }, null)).toBe(RIGHT);
  await expect(closingPassphrase(none, null)).rejects.toThrow(/BACKUP_PASSPHRASE/);
});
