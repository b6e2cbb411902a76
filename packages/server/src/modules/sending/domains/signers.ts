import { recentMap } from '../../../platform/async/recent-map.ts';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { decryptKey, selectorOf } from './dkim-key.ts';
import { type MailSettings, normaliseDomainName, returnPathOf, type SendingDomain } from './domain.ts';
import { findSigner, type SignerRow } from './reads.ts';

/** How an email is sent. `dkim` is null until a key has been found in DNS. */
export type Signer = {
  domain: SendingDomain;
  /** The domain of the envelope sender. */
  returnPath: string;
  dkim: { domain: string; selector: string; privateKey: string } | null;
};

export type Signers = { of(tx: Tx, projectId: number, fromDomain: string): Promise<Signer | null> };

const KEYS_REMEMBERED = 1_000;

/**
 * Finds the signer of emails from a domain: the project's domain of that name or the nearest parent. Private keys are decrypted once and
 * cached. A replaced key has another creation time, so it is decrypted again.
 */
export function createSigners(encrypter: Encrypter, mail: Pick<MailSettings, 'mailDomain'>): Signers {
  // Stores whole objects, because the signing code caches what it derives from a key by object identity.
  const cache = recentMap<NonNullable<Signer['dkim']>>(KEYS_REMEMBERED);

  function dkimOf(
    { projectId, id, name: domain }: SendingDomain,
    key: NonNullable<SignerRow['key']>,
  ): Signer['dkim'] {
    const cacheKey = `${projectId} ${id} ${key.slot} ${key.createdAt}`;
    const cached = cache.get(cacheKey);
    if (cached) return cached;
    const privateKey = decryptKey(encrypter, key.encrypted, { projectId, domainId: id, slot: key.slot });
    const dkim = { domain, selector: selectorOf(id, key.slot), privateKey };
    cache.set(cacheKey, dkim);
    return dkim;
  }

  return {
    async of(tx, projectId, fromDomain) {
      const found = await findSigner(tx, { projectId, names: withParents(normaliseDomainName(fromDomain)) });
      if (!found) return null;
      const { domain, key } = found;
      const dkim = key && dkimOf(domain, key);
      return { domain, returnPath: returnPathOf(domain.name, mail), dkim };
    },
  };
}

/** Finds the domain of the project that emails from this name are sent with, or undefined. */
export async function findSending(
  tx: Tx,
  { projectId, name }: { projectId: number; name: string },
): Promise<SendingDomain | undefined> {
  return (await findSigner(tx, { projectId, names: withParents(normaliseDomainName(name)) }))?.domain;
}

/** No domain has more labels, while the input may be anything. */
const PARTS_MAX = 40;

function withParents(name: string): string[] {
  const parts = name.split('.').slice(-PARTS_MAX);
  return parts.slice(0, -1).map((_, n) => parts.slice(n).join('.'));
}
