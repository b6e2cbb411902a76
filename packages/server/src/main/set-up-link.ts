import type { Log } from '../base/log.ts';
import { offerSetup } from '../flows/team/index.ts';
import { openDatabase } from '../io/db/index.ts';
import { FOR_A_MOMENT, type Place } from './prepare.ts';

/** Where the first person signs up; null once there is somebody who owns this installation. */
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
