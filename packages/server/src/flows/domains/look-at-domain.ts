import type { TokenKeys } from '../../base/letter-token.ts';
import type { Outbound } from '../../io/outbound/index.ts';
import { type CheckDeps, checkDomain } from './check-domain.ts';
import { probeDomain } from './track-domain.ts';
import { type DomainPlace, type DomainView, requireDomain, showDomain } from './view.ts';

export type LookDeps = CheckDeps & { tokenKeys: TokenKeys; openOutbound: () => Outbound };

/** Because somebody asks for it: the records in the DNS, and its host for links where it has one. */
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
