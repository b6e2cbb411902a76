import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Relay } from '@beckon/contract/dashboard';
import { testCases } from '../../testkit/cases.ts';
import { testShell } from '../../testkit/shell.ts';
import { testWorld } from '../../testkit/world.ts';
import { startSink } from '../../../server/testing/servers/smtp-sink.ts';

const sink = await startSink();
const folder = mkdtempSync(join(tmpdir(), 'beckon-relays-'));
afterAll(async () => {
  await sink.close();
  rmSync(folder, { recursive: true, force: true });
});
const world = await testWorld();
const local = testShell({ DATA_DIR: await world.localSocket() });
const at = `--set host=127.0.0.1 --set port=${sink.port} --set encryption=none`;
const secrets = join(folder, 'secrets.json');
writeFileSync(secrets, JSON.stringify({ password: 'correct-horse' }));

let id = '';
describe('relays', () => {
  testCases(local, [
    { run: 'relays list', shows: /No relays yet/, json: [] },
    { run: 'relays kinds', shows: /smtp \(SMTP\)[^]*password: Password, secret/, json: [{ kind: 'smtp' }] },
    { run: 'relays add pigeon --name Main', fails: [2, /Unknown kind pigeon\. Use one of .*smtp/] },
    { run: 'relays add smtp --name Main --set password=x', fails: [2, /password is secret/] },
    { run: 'relays add smtp --name Main --json', fails: [2, /Host is required/] },
    {
      run: `relays add smtp --name Main ${at}`,
      json: { name: 'Main', state: 'untested', owner: 'project' },
      keep: (relay: Relay) => (id = relay.id),
    },
    { run: 'relays test Main', shows: /Succeeded: /, json: { ok: true } },
    { run: 'relays test Other', fails: [1, /Unknown relay Other/] },
    { run: 'relays use Main', shows: /Emails of the project are sent through Main/ },
    { run: 'relays list', shows: /Main +SMTP +working +the project/ },
    { run: 'relays use Main --domain x.test', fails: [2, /x\.test is not a sending domain/] },
    { run: () => `relays delete ${id} --yes`, fails: [1, /Main is used by/] },
    { run: 'relays rotate Main --set port=1', shows: /Changed Main/ },
    { run: 'relays show Main', shows: /untested[^]*port: 1/, json: { settings: { port: '1' } } },
    {
      run: `relays rotate Main --set encryption=starttls --set username=ada --secrets-file ${secrets}`,
      json: { settings: { username: 'ada' } },
    },
    { run: 'relays use default', shows: /Removed the relay of the project/ },
    { run: () => `relays delete ${id} --yes`, shows: /Deleted relay Main/ },
  ]);

  test('test ends with 1 if the relay cannot be reached', async () => {
    const args = ['relays', 'add', 'smtp', '--name', 'Dead', '--set', 'host=127.0.0.1', '--set', 'port=1'];
    await local.json([...args, '--set', 'encryption=none']);
    const { code, out } = await local.run(['relays', 'test', 'Dead']);
    expect([code, out]).toEqual([1, expect.stringMatching(/^Failed: connect/)]);
  });
});
