import type { DkimKey } from './dkim-key.ts';
import { type DomainState, type MailSettings, maySend, type SendingDomain } from './domain.ts';
import { findDomainById, listKeys, lockDomain } from './reads.ts';
import { judge } from './check-records.ts';
import { lookUp } from './look-up.ts';
import { recordsOf } from './records.ts';
import { settle } from './apply-findings.ts';
import { updateDomain, updateKeys } from './store.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Resolver } from '../../../platform/dns/resolver.ts';
import { askHeldAgain } from '../../drafts/index.ts';
import { type DomainView, viewOf } from './domain-view.ts';

export type CheckDeps = {
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;
  resolver: Resolver;
  mail: MailSettings;
};

/** `before`: the previous state. */
export type Checked = { view: DomainView; before: DomainState };

/** Hold reasons of drafts while no email could be sent from the domain. */
const HELD_FOR_DOMAIN = ['domain_not_ready', 'no_sender', 'public_url'];

/**
 * Checks the DNS records of a domain and applies the result; returns null if the domain no longer exists. DNS is queried outside any
 * transaction. If another check finished since then, or the keys changed, this result is dropped: of two concurrent checks, one counts.
 */
export async function checkDomain(
  { db, resolver, mail }: CheckDeps,
  place: Pick<SendingDomain, 'projectId' | 'id'>,
): Promise<Checked | null> {
  const { projectId, id } = place;
  const known = await findDomainById(db, place);
  if (!known) return null;
  const knownKeys = await listKeys(db, projectId, [id]);
  const records = recordsOf(known, knownKeys, mail);
  const looked = await lookUp(resolver, records);
  const findings = records.map((record) => judge(record, looked));
  return db.transaction(async (tx) => {
    const domain = await lockDomain(tx, place);
    if (!domain) return null;
    const keys = await listKeys(tx, projectId, [id]);
    const before = domain.state;
    const isOutrun = domain.checkedAt !== known.checkedAt || !areSameKeys(keys, knownKeys);
    if (isOutrun) return { view: viewOf(domain, keys, mail), before };
    const now = db.clock.now();
    const settled = settle({ domain, keys }, findings, { mail, now });
    await updateDomain(tx, settled.domain);
    await updateKeys(tx, { projectId, domainId: id }, { moves: settled.moves, now });
    if (maySend(settled.domain) && !maySend(domain))
      await askHeldAgain(tx, { projectId, reasons: HELD_FOR_DOMAIN, now });
    return { view: viewOf(settled.domain, settled.keys, mail), before };
  });
}

function areSameKeys(some: DkimKey[], others: DkimKey[]): boolean {
  const nameOf = ({ slot, createdAt }: DkimKey): string => `${slot} ${createdAt}`;
  const names = new Set(others.map(nameOf));
  return some.length === others.length && some.every((key) => names.has(nameOf(key)));
}
