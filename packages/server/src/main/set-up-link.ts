import type { Log } from '../platform/log.ts';
import { offerSetup } from '../modules/workspace/index.ts';
import { openDatabase } from '../platform/db/database.ts';
import { FOR_A_MOMENT, type Place } from './prepare.ts';

/** Returns the sign-up link of the first member, or null once the installation has an owner. */
export async function setUpLink(
  { connection }: Pick<Place, 'connection'>,
  { publicUrl, log }: { publicUrl: string; log: Log },
): Promise<string | null> {
  const db = await openDatabase({ ...FOR_A_MOMENT, connection, log });
  try {
    return (await offerSetup(db, publicUrl))?.url ?? null;
  } finally {
    await db.close();
  }
}
