import { newWebhookSecret } from '@beckon/contract/signature';
import { reencryptAll, type ReencryptOptions, type Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import {
  findListener,
  insertListener,
  listListeners,
  type ListenerKey,
  type ListenerRow,
  updateListenerSecret,
} from './store.ts';

const REENCRYPT_BATCH = 100;
const BEGINNING: ListenerKey = { projectId: 0, memberId: '' };

type Deps = { db: Pick<Database, 'query' | 'prepared' | 'clock'>; encrypter: Encrypter };

/** Returns the secret of a member for a project, and creates it on the first call. Concurrent callers get the same one. */
export async function openListener({ db, encrypter }: Deps, key: ListenerKey): Promise<string> {
  const existing = await findListener(db, key);
  if (existing) return decryptSecret(encrypter, existing);
  const encrypted = encrypter.encrypt(Buffer.from(newWebhookSecret()), boundTo(key));
  await insertListener(db, { ...key, encrypted, createdAt: new Date(db.clock.now()) });
  const created = await findListener(db, key);
  if (!created) throw new Error('a listener that was just made is not there');
  return decryptSecret(encrypter, created);
}

export function reencryptListeners(tx: Tx, options: ReencryptOptions): Promise<number> {
  return reencryptAll<ListenerRow>(options, {
    list: (after) => listListeners(tx, { after: after ?? BEGINNING, limit: REENCRYPT_BATCH }),
    boundTo,
    write: (rows) => Promise.all(rows.map((row) => updateListenerSecret(tx, row))),
  });
}

function decryptSecret(encrypter: Encrypter, row: ListenerRow): string {
  return encrypter.decrypt(row.encrypted, boundTo(row)).toString();
}

function boundTo({ projectId, memberId }: ListenerKey): string {
  return `webhook listener ${projectId} ${memberId}`;
}
