import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fillDisk, isOwnDisk, mountOwnDisk } from './own-disk.ts';

test('fills and frees a separate disk without affecting others', async ({ skip }) => {
  const folder = await mkdtemp(join(tmpdir(), 'beckon-disk-'));
  expect(await isOwnDisk(tmpdir())).toBe(false);
  const disk = await mountOwnDisk(folder);
  if (!disk) return skip('nothing can be mounted here');
  try {
    expect(await isOwnDisk(folder)).toBe(true);
    const much = Buffer.alloc(1024 * 1024);
    await writeFile(join(folder, 'before'), much);
    const free = await fillDisk(folder);
    await expect(writeFile(join(folder, 'within'), much)).rejects.toThrow('ENOSPC');
    await writeFile(`${folder}.beside`, much);
    await free();
    await writeFile(join(folder, 'after'), much);
    await disk.unmount();
    const again = await mountOwnDisk(folder);
    await expect(writeFile(join(folder, 'before'), much, { flag: 'wx' })).rejects.toThrow('EEXIST');
    await again?.unmount();
  } finally {
    if (await isOwnDisk(folder)) await disk.unmount();
    for (const path of [folder, `${folder}.disk`, `${folder}.beside`])
      await rm(path, { recursive: true, force: true });
  }
});
