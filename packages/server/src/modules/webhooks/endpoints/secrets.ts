import { newWebhookSecret, readWebhookSecret } from '@beckon/contract/signature';
import { Fault } from '../../../platform/fault.ts';
import { resealAll, type Resealing, type Sealer } from '../../../platform/crypto/encrypt.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { type EndpointRef, invalid } from './endpoint.ts';
import { listLiveSecrets, listSealedSecrets } from './reads.ts';
import { insertSecret, type SealedSecret, updateSealed } from './store.ts';

export const OVERLAP_DEFAULT_MS = 24 * 3_600_000;
const OVERLAP_MAX_MS = 7 * 24 * 3_600_000;
/** A delivery has one signature per secret. */
const LIVE_SECRETS_MAX = 3;
const RESEALED_AT_ONCE = 100;

export type NewSecret = EndpointRef & { id: string; now: number; overlapMs: number };

/**
 * Adds a secret and returns it, only this once. Older secrets also sign during the overlap, so that the receiver can be updated. Requires a
 * lock on the endpoint.
 */
export async function addSecret(tx: Tx, sealer: Sealer, wanted: NewSecret): Promise<string> {
  const { id, now, overlapMs, ...place } = wanted;
  if (overlapMs < 0 || overlapMs > OVERLAP_MAX_MS)
    throw invalid('The old secret can stay valid for at most 7 days', 'overlap');
  const live = overlapMs === 0 ? [] : await listLiveSecrets(tx, { places: [place], now });
  if (live.length >= LIVE_SECRETS_MAX) throw tooMany();
  const secret = newWebhookSecret();
  const bytes = readWebhookSecret(secret);
  if (bytes === null) throw new Error('a new secret cannot be read');
  const sealed = sealer.seal(bytes, boundTo(place));
  await insertSecret(tx, { ...place, id, sealed, createdAt: now, expiresAt: null }, now + overlapMs);
  return secret;
}

export function openSecret(sealer: Sealer, secret: SealedSecret): Buffer {
  return sealer.open(secret.sealed, boundTo(secret));
}

export function resealSecrets(tx: Tx, given: Resealing): Promise<number> {
  return resealAll<SealedSecret>(given, {
    list: (after) => listSealedSecrets(tx, { after, limit: RESEALED_AT_ONCE }),
    boundTo,
    write: (secrets) => updateSealed(tx, secrets),
  });
}

function boundTo({ projectId, endpointId }: EndpointRef): string {
  return `webhook secret ${projectId} ${endpointId}`;
}

function tooMany(): Fault {
  const message = `${LIVE_SECRETS_MAX} secrets sign for this endpoint, which is the maximum. An overlap of 0 ends all old ones immediately`;
  return new Fault('conflict', { details: [{ message, field: 'overlap' }] });
}
