import { beforeEach, expect, test, vi } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { silentLog } from '../../../platform/log.ts';
import { createKey } from './change-key.ts';
import { createProject } from '../../administration/create-project.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { keyUse } from './key-use.ts';
import { listKeys } from './list-keys.ts';
import { iso } from '../../../platform/time/clock.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
let key: { id: string; projectId: number };
beforeEach(async () => {
  const { id: projectId } = await createProject(db, { name: 'Acme' });
  const { id } = await createKey({ db, pepper: Buffer.alloc(32) }, { projectId, label: 'server' });
  key = { id, projectId };
});
const listed = async () => (await listKeys(db, key.projectId))[0];

test('shows the last use and the client of a key after a flush', async () => {
  const use = keyUse({ db, clock, log: silentLog });
  use.note(key, 'beckon-js/1.2.3');
  clock.advance(1_000);
  use.note(key, undefined);
  expect((await listed())?.last_used_at).toBeNull();
  await use.flush();
  const client = { name: 'beckon-js', version: '1.2.3' };
  expect(await listed()).toMatchObject({ last_used_at: iso(clock.now()), client });
});

test('keeps the known client after a use without a readable one, and replaces it as a whole otherwise', async () => {
  const use = keyUse({ db, clock, log: silentLog });
  use.note(key, 'beckon-js/1.2.3');
  await use.flush();
  use.note(key, 'Mozilla/5.0 (X11)');
  await use.flush();
  expect(await listed()).toMatchObject({ client: { name: 'beckon-js', version: '1.2.3' } });
  use.note(key, 'beckon-py/0.9.0-rc.1');
  await use.close();
  expect(await listed()).toMatchObject({ client: { name: 'beckon-py', version: '0.9.0-rc.1' } });
});

test('never moves the last use back for a process with a slow clock', async () => {
  const [ahead, behind] = [keyUse({ db, clock, log: silentLog }), keyUse({ db, clock, log: silentLog })];
  behind.note(key, undefined);
  clock.advance(5_000);
  ahead.note(key, undefined);
  await ahead.flush();
  await behind.flush();
  expect((await listed())?.last_used_at).toEqual(iso(clock.now()));
});

test('writes thirty thousand uses in two statements after ten seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const written: unknown[][] = [];
    const tx: Tx = {
      prepared: () => Promise.resolve([]),
      query: (_, values) => Promise.resolve((written.push(values ?? []), [])),
    };
    const use = keyUse({ db: tx, clock, log: silentLog });
    for (let i = 0; i < 30_000; i += 1) use.note(key, 'beckon-js/1.2.3');
    await vi.advanceTimersByTimeAsync(9_999);
    expect(written).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(written).toHaveLength(2);
    expect(written[0]?.[1]).toEqual([key.id]);
    expect(written[1]?.[3]).toEqual([30_000]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(written).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('writes uses again after a failed write', async () => {
  let broken = true;
  const tx: Tx = {
    prepared: (query) => db.prepared(query),
    query: (text, values) => (broken ? Promise.reject(new Error('gone')) : db.query(text, values)),
  };
  const use = keyUse({ db: tx, clock, log: silentLog });
  use.note(key, 'beckon-js/1.2.3');
  const at = iso(clock.now());
  await use.flush();
  broken = false;
  await use.close();
  expect(await listed()).toMatchObject({ last_used_at: at, client: { name: 'beckon-js' } });
});

test('returns the minimum version only for a client below it', () => {
  const use = keyUse({ db, clock, log: silentLog, minimumVersions: new Map([['beckon-js', '1.4.0']]) });
  for (const old of ['beckon-js/1.3.9', 'Beckon-JS/0.1.0', 'node/x beckon-js/1.4.0-rc.1 more'])
    expect([old, use.outdated(old), use.outdated(old)]).toEqual([old, '1.4.0', '1.4.0']);
  for (const fine of ['beckon-js/1.4.0', 'beckon-js/1.10.0', 'beckon-py/0.1.0', 'curl/8.0', '', 'beckon-js'])
    expect([fine, use.outdated(fine)]).toEqual([fine, undefined]);
});
