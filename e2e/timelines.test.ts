import { expect, test } from 'vitest';
import { openRestores } from '../packages/postgres/testkit/restores.ts';

const { printed, live, backUp, restore: putBack, write, read, readOf, letArchive } = await openRestores();

test('a restore for inspection does not affect the backups of the running server, and gets a unique timeline', async () => {
  const first = await live('first');
  await write(first, 'a');
  const old = await backUp('first');
  const early = await write(first, 'b');
  await write(first, 'c');
  await letArchive(first);
  const trial = await putBack('trial', { from: old, until: early });
  expect(trial.timeline).toBe(2);

  const late = await write(first, 'd');
  const young = await backUp('first');
  await write(first, 'e');
  await letArchive(first);
  const again = await putBack('again', { from: old, until: late });
  const newest = await putBack('newest', { from: young });
  expect([again.timeline, newest.timeline]).toEqual([3, 4]);
  expect(await readOf('again')).toBe('abcd');
  expect(await readOf('newest')).toBe('abcde');
  expect(printed()).toEqual([]);
}, 240_000);

test('follows a restored server from backups before and after the restore, and reaches the abandoned timeline by its number', async () => {
  const first = await live('first');
  await write(first, 'a');
  const old = await backUp('first');
  const moment = await write(first, 'b');
  await write(first, 'c');
  await letArchive(first);
  await first.release();

  expect(await putBack('second', { from: old, until: moment })).toMatchObject({ timeline: 2 });
  const second = await live('second');
  await write(second, 'd');
  const young = await backUp('second');
  const later = await write(second, 'e');
  await write(second, 'f');
  await letArchive(second);
  await second.release();

  expect(await putBack('third', { from: old, until: later })).toMatchObject({ timeline: 3 });
  expect(printed()).toEqual([expect.stringMatching(/timeline 1, .*timeline 2, .*follows timeline 2/)]);
  expect(await putBack('fourth', { from: young })).toMatchObject({ timeline: 4 });
  expect(await putBack('fifth', { from: old, timeline: 1 })).toMatchObject({ timeline: 5 });
  expect(await readOf('third')).toBe('abde');
  expect(await readOf('fourth')).toBe('abdef');
  expect(await readOf('fifth')).toBe('abc');
  await expect(putBack('sixth', { from: young, timeline: 1 })).rejects.toMatchObject({ code: 'timeline' });
}, 240_000);

test('restores each of two installations that share one BACKUP_DIR from its own log', async () => {
  const first = await live('first');
  await write(first, 'a');
  const old = await backUp('first');
  await write(first, 'b');
  await letArchive(first);
  await first.release();

  const other = await live('other');
  await write(other, 'x');
  const young = await backUp('other');
  await write(other, 'y');
  await letArchive(other);
  await other.release();

  expect(await putBack('second', { from: old })).toMatchObject({ timeline: 2 });
  const second = await live('second');
  expect(await read(second)).toBe('ab');
  await write(second, 'c');
  await letArchive(second);
  await second.release();
  expect(await putBack('third', { from: old })).toMatchObject({ timeline: 3 });
  expect(await readOf('third')).toBe('abc');
  expect(await putBack('fourth', { from: young })).toMatchObject({ timeline: 2 });
  expect(await readOf('fourth')).toBe('xy');
}, 240_000);
