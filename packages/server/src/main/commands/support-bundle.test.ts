import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { serverCommand } from '../../../testing/servers/server-command.ts';
import { createProject } from '../../modules/administration/create-project.ts';
import { setSettings } from '../../modules/administration/set-settings.ts';

const db = await openTestDatabase(fixedClock());
const { id } = await createProject(db, { name: 'Acme' });
await setSettings(db, id, { from_address: 'ada@x.org' });
const folder = await mkdtemp(join(tmpdir(), 'beckon-bundle-'));
afterAll(() => rm(folder, { recursive: true }));
const run = (...args: string[]) => serverCommand({ db }, ['support-bundle', '--project', ...args]);

describe('support-bundle', () => {
  test('prints facts about the server and a project, without personal data', async () => {
    const { json, out, code } = await run('Acme', '--json');
    expect(code).toBe(0);
    expect(json).toMatchObject({
      installed: { release: { version: '0.0.0' }, transport: 'test_inbox', has_model: false },
      project: { id, livemode: true },
      settings: { from_address: 'set' },
    });
    expect(out).not.toContain('ada@x.org');
    expect(JSON.parse((await run('Acme')).out)).toEqual(json);
  });

  test('writes a new private file, and overwrites none', async () => {
    const file = join(folder, 'bundle.json');
    const { json } = await run('Acme', '--out', file, '--json');
    const text = await readFile(file, 'utf8');
    expect(json).toEqual({ file, bytes: Buffer.byteLength(text) });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await run('Acme', '--out', file)).toMatchObject({
      code: 1,
      err: expect.stringContaining('EEXIST') as string,
    });
  });

  test('needs a project that exists', async () => {
    expect(await run('Other')).toMatchObject({ code: 1, err: expect.stringContaining('Other') as string });
    expect(await serverCommand({ db }, ['support-bundle'])).toMatchObject({ code: 2 });
  });
});
