import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { DnsRecordStatus, DkimKeyState } from './findings.ts';

/**
 * A domain signs with one key. It may have a second key in preparation, under a selector of its own:
 *
 *   pending ──found in DNS──▶ published ──there for an hour──▶ active ──replaced──▶ retiring ──7 days──▶ gone
 *      ◀─────gone from DNS───────┘
 *
 * If no key signs yet, or the record of the signing key is gone, a key found in DNS signs immediately.
 */
export type DkimKey = {
  projectId: number;
  domainId: string;
  slot: Slot;
  state: DkimKeyState;
  /** SubjectPublicKeyInfo in base64, as in the record. */
  publicKey: string;
  createdAt: number;
  /** When the key entered its state. */
  changedAt: number;
};

export type Slot = 'a' | 'b';
export type KeyMove = { slot: Slot; to: DkimKeyState | 'gone' };

/** After this time, all name servers of a zone have a record. */
export const SETTLES_MS = 3_600_000;
/** Emails signed with a key may wait in queues for this long. */
export const RETIRES_AFTER_MS = 7 * 86_400_000;

const SELECTOR_BYTES = 5;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Derives the selector from the random half of the row's id, so that two projects that share a domain get different selectors. */
export function selectorOf(domainId: string, slot: Slot): string {
  let remainder = Number.parseInt(domainId.replaceAll('-', '').slice(-2 * SELECTOR_BYTES), 16);
  let text = '';
  for (let n = 0; n < 8; n += 1) {
    text = `${BASE32[remainder % 32]}${text}`;
    remainder = Math.floor(remainder / 32);
  }
  return `bk${text}${slot}`;
}

/** Returns the key that signs emails, or that will sign once it is found in DNS. */
export function signingKey(keys: DkimKey[]): DkimKey | undefined {
  return keys.find(({ state }) => state === 'active') ?? keys.find(({ state }) => state !== 'retiring');
}

export function freeSlot(keys: DkimKey[]): Slot | null {
  return (['a', 'b'] as const).find((slot) => keys.every((key) => key.slot !== slot)) ?? null;
}

/** Returns the state changes of the keys that follow from what DNS says about their records. */
export function keyMoves(
  keys: DkimKey[],
  statusOf: (key: DkimKey) => DnsRecordStatus,
  now: number,
): KeyMove[] {
  const moves: KeyMove[] = [];
  const active = keys.find(({ state }) => state === 'active');
  const next = keys.find(({ state }) => state === 'pending' || state === 'published');
  const to = next && moveOfNext(next, { statusOf, active, now });
  if (next && to) moves.push({ slot: next.slot, to });
  if (active && to === 'active') moves.push({ slot: active.slot, to: 'retiring' });
  for (const { slot, state, changedAt } of keys) {
    if (state === 'retiring' && now - changedAt >= RETIRES_AFTER_MS) moves.push({ slot, to: 'gone' });
  }
  return moves;
}

type KeyContext = { statusOf: (key: DkimKey) => DnsRecordStatus; active: DkimKey | undefined; now: number };

function moveOfNext(next: DkimKey, { statusOf, active, now }: KeyContext): DkimKeyState | null {
  const status = statusOf(next);
  if (status === 'unknown') return null;
  if (status !== 'ok') return next.state === 'published' ? 'pending' : null;
  if (!active || isMiss(statusOf(active))) return 'active';
  if (next.state === 'pending') return 'published';
  return now - next.changedAt >= SETTLES_MS ? 'active' : null;
}

export function isMiss(status: DnsRecordStatus): boolean {
  return status === 'missing' || status === 'wrong';
}

export function afterMoves(keys: DkimKey[], moves: KeyMove[], now: number): DkimKey[] {
  return keys.flatMap((key) => {
    const to = moves.find(({ slot }) => slot === key.slot)?.to;
    if (to === 'gone') return [];
    return to === undefined ? [key] : [{ ...key, state: to, changedAt: now }];
  });
}

const generate = promisify(generateKeyPair);

export type KeyPair = { publicKey: string; privateKey: string };

/** Generates a key pair. Call it outside of any transaction, because it takes a tenth of a second or several. */
export async function generateKey(): Promise<KeyPair> {
  const { publicKey, privateKey } = await generate('rsa', { modulusLength: 2048 });
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

export type DkimKeyId = Pick<DkimKey, 'projectId' | 'domainId' | 'slot'>;

export function encryptKey(encrypter: Encrypter, privateKey: string, keyId: DkimKeyId): Buffer {
  return encrypter.encrypt(Buffer.from(privateKey), boundTo(keyId));
}

export function decryptKey(encrypter: Encrypter, encrypted: Uint8Array, keyId: DkimKeyId): string {
  return encrypter.decrypt(encrypted, boundTo(keyId)).toString();
}

export function boundTo({ projectId, domainId, slot }: DkimKeyId): string {
  return `dkim ${projectId} ${domainId} ${slot}`;
}
