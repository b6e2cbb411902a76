import { equalInConstantTime, hmacSha256 } from '../../base/hash.ts';
import type { TokenKeys } from '../../base/letter-token.ts';
import type { SendingDomain } from './domain.ts';

/**
 * A question that this installation asks itself by way of a tracking host. The token is made of the project, the domain and
 * the host, and sealed; its answer is another seal, which only who knows the key can make. So it is of no use to send the
 * token back, nobody gets an answer to a token of their own, and no row is read for either.
 */
export type ProbePlace = Pick<SendingDomain, 'projectId' | 'id'> & { host: string };

const SEAL_BYTES = 16;
const TOKEN = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{22})$/;

export function probeToken({ projectId, id, host }: ProbePlace, [key]: TokenKeys): string {
  const place = seal(key, 'place', `${projectId}\n${id}\n${host}`);
  return `${place}.${seal(key, 'question', place)}`;
}

/** Null for whatever we did not ask. */
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
