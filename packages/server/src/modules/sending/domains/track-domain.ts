import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import { afterProbe, missOf, newTracking } from './tracking.ts';
import { findDomainById, listKeys, lockDomain } from './reads.ts';
import type { MailSettings, SendingDomain, TrackingState } from './domain.ts';
import { probeAnswer, probeToken } from './probe-token.ts';
import { updateTracking } from './store.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import { type DomainPlace, type DomainView, requireLocked, viewOf } from './domain-view.ts';

type Db = Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;

/**
 * Sets the tracking host of a domain. With null, links use the installation's own address again, from the next email on. Setting the same
 * host again schedules a new check.
 */
export function trackDomain(
  { db, mail }: { db: Pick<Db, 'transaction' | 'clock'>; mail: MailSettings },
  place: DomainPlace,
  host: string | null,
): Promise<DomainView> {
  return db.transaction(async (tx) => {
    const domain = await requireLocked(tx, place);
    const now = db.clock.now();
    const wanted = host === null ? null : newTracking(domain, host, now);
    const isSame = wanted !== null && domain.tracking?.host === wanted.host;
    const tracking = isSame && domain.tracking ? { ...domain.tracking, nextAt: now } : wanted;
    const tracked = { ...domain, tracking };
    await updateTracking(tx, tracked);
    const { projectId, id } = domain;
    return viewOf(tracked, await listKeys(tx, projectId, [id]), mail);
  });
}

export type ProbeDeps = { db: Db; outbound: Pick<Outbound, 'get'>; tokenKeys: TokenKeys };

/** `before`: the previous state. */
export type Probed = { domain: SendingDomain; before: TrackingState; after: TrackingState };

/**
 * Requests from the tracking host an answer that only this installation can give, outside any transaction. Returns null if there is no such
 * host any more. Only one of two concurrent probes counts.
 */
export async function probeDomain(
  { db, outbound, tokenKeys }: ProbeDeps,
  place: Pick<SendingDomain, 'projectId' | 'id'>,
): Promise<Probed | null> {
  const known = (await findDomainById(db, place))?.tracking;
  if (!known) return null;
  const token = probeToken({ ...place, host: known.host }, tokenKeys);
  const url = `https://${known.host}/.well-known/beckon/${token}`;
  const answer = await outbound.get({ url, headers: {}, key: `tracking ${known.host}` });
  const miss = missOf(answer, probeAnswer(token, tokenKeys) ?? '');
  return db.transaction(async (tx) => {
    const domain = await lockDomain(tx, place);
    if (!domain?.tracking) return null;
    const { tracking } = domain;
    const isOutrun = tracking.host !== known.host || tracking.checkedAt !== known.checkedAt;
    if (isOutrun) return { domain, before: tracking.state, after: tracking.state };
    const after = afterProbe(tracking, miss, db.clock.now());
    await updateTracking(tx, { ...domain, tracking: after });
    return { domain: { ...domain, tracking: after }, before: tracking.state, after: after.state };
  });
}
