import { equalInConstantTime, hmacSha256 } from '../../../platform/crypto/hash.ts';
import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import type { SendingDomain } from './domain.ts';

/**
 * Token of a request that this installation sends to itself through a tracking host. It contains the project, the domain and the host with
 * a signature. Its answer is another signature, which only an owner of the key can compute. A server that returns the token does not pass,
 * a self-made token gets no answer, and neither needs a database query.
 */
export type ProbePlace = Pick<SendingDomain, 'projectId' | 'id'> & { host: string };

const SEAL_BYTES = 16;
const TOKEN = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{22})$/;

export function probeToken({ projectId, id, host }: ProbePlace, [key]: TokenKeys): string {
  const place = seal(key, 'place', `${projectId}\n${id}\n${host}`);
  return `${place}.${seal(key, 'question', place)}`;
}

/** Returns the answer, or null for a token that this installation did not create. */
export function probeAnswer(token: string, keys: TokenKeys): string | null {
  const [, place, sealed] = TOKEN.exec(token) ?? [];
  if (place === undefined || sealed === undefined) return null;
  const given = Buffer.from(sealed);
  const key = keys.find((one) => equalInConstantTime(given, Buffer.from(seal(one, 'question', place))));
  return key ? seal(key, 'answer', place) : null;
}

function seal(key: Uint8Array, use: 'place' | 'question' | 'answer', text: string): string {
  return hmacSha256(key, `tracking ${use}\n`, text).subarray(0, SEAL_BYTES).toString('base64url');
}
