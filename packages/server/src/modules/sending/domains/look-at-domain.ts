import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import { type CheckDeps, checkDomain } from './check-domain.ts';
import { probeDomain } from './track-domain.ts';
import { type DomainPlace, type DomainView, requireDomain, showDomain } from './domain-view.ts';

export type LookDeps = CheckDeps & { tokenKeys: TokenKeys; openOutbound: () => Outbound };

/** Checks a domain on request: its DNS records, and its tracking host if it has one. */
export async function lookAtDomain(deps: LookDeps, place: DomainPlace): Promise<DomainView> {
  const { db, tokenKeys, openOutbound, mail } = deps;
  const found = await requireDomain(db, place);
  await checkDomain(deps, found);
  if (found.tracking) {
    const outbound = openOutbound();
    try {
      await probeDomain({ db, tokenKeys, outbound }, found);
    } finally {
      outbound.close();
    }
  }
  return showDomain(db, place, mail);
}
