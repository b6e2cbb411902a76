import { newWebhookSecret, readWebhookSecret } from '@beckon/contract/signature';
import { Fault } from '../../../platform/fault.ts';
import { reencryptAll, type ReencryptOptions, type Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { type EndpointRef, invalid } from './endpoint.ts';
import { listLiveSecrets, listEncryptedSecrets } from './reads.ts';
import { insertSecret, type EncryptedSecret, updateSecrets } from './store.ts';

export const OVERLAP_DEFAULT_MS = 24 * 3_600_000;
const OVERLAP_MAX_MS = 7 * 24 * 3_600_000;
/** A delivery has one signature per secret. */
const LIVE_SECRETS_MAX = 3;
const REENCRYPT_BATCH = 100;

export type NewSecret = EndpointRef & { id: string; now: number; overlapMs: number };

/**
 * Adds a secret and returns it, only this once. Older secrets also sign during the overlap, so that the receiver can be updated. Requires a
 * lock on the endpoint.
 */
export async function addSecret(tx: Tx, encrypter: Encrypter, input: NewSecret): Promise<string> {
  const { id, now, overlapMs, ...key } = input;
  if (overlapMs < 0 || overlapMs > OVERLAP_MAX_MS)
    throw invalid('The old secret can stay valid for at most 7 days', 'overlap');
  const live = overlapMs === 0 ? [] : await listLiveSecrets(tx, { keys: [key], now });
  if (live.length >= LIVE_SECRETS_MAX) throw tooMany();
  const secret = newWebhookSecret();
  const bytes = readWebhookSecret(secret);
  if (bytes === null) throw new Error('a new secret cannot be read');
  const encrypted = encrypter.encrypt(bytes, boundTo(key));
  await insertSecret(tx, { ...key, id, encrypted, createdAt: now, expiresAt: null }, now + overlapMs);
  return secret;
}

export function decryptSecret(encrypter: Encrypter, secret: EncryptedSecret): Buffer {
  return encrypter.decrypt(secret.encrypted, boundTo(secret));
}

export function reencryptSecrets(tx: Tx, options: ReencryptOptions): Promise<number> {
  return reencryptAll<EncryptedSecret>(options, {
    list: (after) => listEncryptedSecrets(tx, { after, limit: REENCRYPT_BATCH }),
    boundTo,
    write: (secrets) => updateSecrets(tx, secrets),
  });
}

function boundTo({ projectId, endpointId }: EndpointRef): string {
  return `webhook secret ${projectId} ${endpointId}`;
}

function tooMany(): Fault {
  const message = `${LIVE_SECRETS_MAX} secrets sign for this endpoint, which is the maximum. An overlap of 0 ends all old ones immediately`;
  return new Fault('conflict', { details: [{ message, field: 'overlap' }] });
}
