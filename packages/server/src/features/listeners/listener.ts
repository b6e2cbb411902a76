import { newWebhookSecret } from '@beckon/contract/signature';
import type { Sealer } from '../../base/seal.ts';
import type { Database, Tx } from '../../io/db/index.ts';
import {
  findListener,
  insertListener,
  listListeners,
  type ListenerPlace,
  type ListenerRow,
  updateSealed,
} from './store.ts';

const RESEALED_AT_ONCE = 100;

type Deps = { db: Pick<Database, 'query' | 'prepared' | 'clock'>; sealer: Sealer };

/** The secret of a person in a project, made when it is first asked for: of two who ask at once both get the same. */
export async function openListener({ db, sealer }: Deps, place: ListenerPlace): Promise<string> {
  const known = await findListener(db, place);
  if (known) return openSecret(sealer, known);
  const sealed = sealer.seal(Buffer.from(newWebhookSecret()), boundTo(place));
  await insertListener(db, { ...place, sealed, createdAt: new Date(db.clock.now()) });
  const made = await findListener(db, place);
  if (!made) throw new Error('a listener that was just made is not there');
  return openSecret(sealer, made);
}

/** Seals anew what the installation's previous secret sealed, so that it can be given up. How many there were. */
export async function resealListeners(tx: Tx, sealer: Sealer): Promise<number> {
  let resealed = 0;
  let after: ListenerPlace = { projectId: 0, personId: '' };
  for (let more = true; more;) {
    const page: ListenerRow[] = await listListeners(tx, { after, limit: RESEALED_AT_ONCE });
    for (const row of page.filter(({ sealed }) => !sealer.isCurrent(sealed))) {
      const sealed = sealer.seal(Buffer.from(openSecret(sealer, row)), boundTo(row));
      await updateSealed(tx, { ...row, sealed });
      resealed += 1;
    }
    after = page.at(-1) ?? after;
    more = page.length === RESEALED_AT_ONCE;
  }
  return resealed;
}

function openSecret(sealer: Sealer, row: ListenerRow): string {
  return sealer.open(row.sealed, boundTo(row)).toString();
}

function boundTo({ projectId, personId }: ListenerPlace): string {
  return `webhook listener ${projectId} ${personId}`;
}
