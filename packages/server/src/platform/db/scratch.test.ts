import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { createScratch } from './scratch.ts';

const admin = () => ({ connectionString: inject('adminUrl') });

async function userOf({ connection }: Awaited<ReturnType<typeof createScratch>>): Promise<pg.Client> {
  const client = new pg.Client(connection());
  await client.connect();
  return client;
}

test('drops a leftover database a day later, with the next creation, and not earlier', async () => {
  const now = Date.now();
  const [unused, used] = [await createScratch(admin, now), await createScratch(admin, now)];
  const user = await userOf(used);
  try {
    const hour = await createScratch(admin, now + 3_600_000);
    await (await userOf(unused)).end();
    await hour.drop();
    const later = await createScratch(admin, now + 86_400_001);
    await expect(userOf(unused)).rejects.toThrow('does not exist');
    expect((await user.query('SELECT 1')).rowCount).toBe(1);
    await later.drop();
  } finally {
    await user.end();
    await used.drop();
  }
});
