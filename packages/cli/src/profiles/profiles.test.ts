import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { testShell } from '../../testkit/shell.ts';
import { profileFile } from './file.ts';

const TOKEN = `bkp_${'a'.repeat(40)}`;
const shell = testShell();
const file = profileFile({ env: {}, home: shell.folder, platform: 'linux' });

async function keep(profile: object): Promise<void> {
  await file.write({ current: 'default', profiles: { default: { url: 'http://localhost:9', ...profile } } });
}

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

test('profile file › is written atomically, readable by its owner alone', async () => {
  await keep({ token: TOKEN });
  expect([await modeOf(file.path), await modeOf(dirname(file.path))]).toEqual(['600', '700']);
  await Promise.all(Array.from({ length: 20 }, (_, n) => keep({ label: 'x'.repeat(n * 1_000) })));
  expect((await file.read()).profiles.profiles['default']?.url).toBe('http://localhost:9');
  expect(await readdir(dirname(file.path))).toEqual(['profiles.json']);
  expect(file.path).toBe(join(shell.folder, '.config/beckon/profiles.json'));
  const otherFile = profileFile({ env: { XDG_CONFIG_HOME: '/etc/x' }, home: '/h', platform: 'linux' });
  expect(otherFile.path).toBe('/etc/x/beckon/profiles.json');
});

test('profile file › repairs permissions, and reports it', async () => {
  await keep({ token: TOKEN });
  await chmod(file.path, 0o644);
  const ran = await shell.run(['whoami', '--json']);
  expect(ran.err).toContain('was readable by others');
  expect(await modeOf(file.path)).toBe('600');
});

test('profile file › is rejected and left unchanged when invalid', async () => {
  await mkdir(dirname(file.path), { recursive: true });
  for (const text of [
    '{',
    '[]',
    '{"current":1,"profiles":{}}',
    '{"current":"a","profiles":{"a":{"url":1}}}',
    '{"current":"a","profiles":{"../x":{"url":"u"}}}',
  ]) {
    await writeFile(file.path, text);
    const ran = await shell.run(['whoami', '--json']);
    expect([ran.code, JSON.parse(ran.err)]).toMatchObject([1, { error: { code: 'profile_broken' } }]);
    expect(await readFile(file.path, 'utf8')).toBe(text);
  }
});

test('connection › sends no secret of one server to another', async () => {
  await keep({ token: TOKEN, api_key: `sk_live_${'a'.repeat(32)}` });
  const token = await shell.run(['whoami', '--json', '--url', 'http://localhost:10']);
  expect([token.code, JSON.parse(token.err)]).toMatchObject([3, { error: { code: 'session_required' } }]);
  expect(token.err).toContain('is for http://localhost:9');
  const key = await shell.run(['track', '--json', 'u', 'e', '--url', 'http://localhost:10']);
  expect([key.code, JSON.parse(key.err)]).toMatchObject([3, { error: { code: 'auth_required' } }]);
  // The port is closed; the attempt to connect shows that the secret was found.
  expect(JSON.parse((await shell.run(['whoami', '--json'])).err)).toMatchObject({
    error: { code: 'unreachable' },
  });
});

test('connection › rejects plain http and secrets in arguments', async () => {
  const refused: [string[], string][] = [
    [['--url', 'http://beckon.example'], 'use https://'],
    [['--url', 'ftp://localhost'], 'must begin with https://'],
    [['--url', 'https://ada:secret@beckon.example'], 'user name or password'],
    [['--url', 'nowhere'], 'is not an address'],
    [['--profile', '../x'], 'not a valid profile name'],
  ];
  for (const [args, words] of refused) {
    const ran = await shell.run(['whoami', '--json', ...args], { env: { BECKON_TOKEN: TOKEN } });
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining(words)]);
  }
  const key = `sk_live_${'a'.repeat(32)}`;
  const ran = await shell.run(['track', '--json', 'u', 'e', '--key-file', key]);
  expect([ran.code, ran.err.includes(key)]).toEqual([2, false]);
  for (const text of [
    'http://localhost:1/',
    'http://127.0.0.1',
    'http://[::1]:80',
    'https://beckon.example/below/',
  ]) {
    const result = await shell.run(['whoami', '--json', '--url', text]);
    expect(result.err).toContain('Not logged in');
  }
});

test('API key › is read from a file, stdin or the environment, or asked for on a terminal', async () => {
  await keep({});
  const wrong = await shell.run(['track', '--json', 'u', 'e', '--key-file', '-'], { stdin: 'nothing\n' });
  expect([wrong.code, wrong.err]).toEqual([3, expect.stringContaining('begins with sk_live_')]);
  const long = await shell.run(['track', '--json', 'u', 'e', '--key-file', '-'], {
    stdin: 'x'.repeat(5_000),
  });
  expect(long.code).toBe(2);
  const none = await shell.run(['track', '--json', 'u', 'e', '--key-file', join(shell.folder, 'absent')]);
  expect([none.code, none.err]).toEqual([2, expect.stringContaining('Cannot read')]);
  const gaveUp = await shell.run(['track', 'u', 'e'], { terminal: true, answers: [null] });
  expect([gaveUp.code, gaveUp.err]).toEqual([130, expect.stringContaining('Canceled. No changes')]);
  expect(shell.questions.at(-1)).toContain('API key');
});
