import { newWebhookSecret } from '@beckon/contract/signature';
import { resealAll, type Resealing, type Sealer } from '../../../platform/crypto/encrypt.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import {
  findListener,
  insertListener,
  listListeners,
  type ListenerPlace,
  type ListenerRow,
  updateSealed,
} from './store.ts';

const RESEALED_AT_ONCE = 100;
const BEGINNING: ListenerPlace = { projectId: 0, personId: '' };

type Deps = { db: Pick<Database, 'query' | 'prepared' | 'clock'>; sealer: Sealer };

/** Returns the secret of a member for a project, and creates it on the first call. Concurrent callers get the same one. */
export async function openListener({ db, sealer }: Deps, place: ListenerPlace): Promise<string> {
  const known = await findListener(db, place);
  if (known) return openSecret(sealer, known);
  const sealed = sealer.seal(Buffer.from(newWebhookSecret()), boundTo(place));
  await insertListener(db, { ...place, sealed, createdAt: new Date(db.clock.now()) });
  const made = await findListener(db, place);
  if (!made) throw new Error('a listener that was just made is not there');
  return openSecret(sealer, made);
}

export function resealListeners(tx: Tx, given: Resealing): Promise<number> {
  return resealAll<ListenerRow>(given, {
    list: (after) => listListeners(tx, { after: after ?? BEGINNING, limit: RESEALED_AT_ONCE }),
    boundTo,
    write: (rows) => Promise.all(rows.map((row) => updateSealed(tx, row))),
  });
}

function openSecret(sealer: Sealer, row: ListenerRow): string {
  return sealer.open(row.sealed, boundTo(row)).toString();
}

function boundTo({ projectId, personId }: ListenerPlace): string {
  return `webhook listener ${projectId} ${personId}`;
}
