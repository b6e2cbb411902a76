export { addDomain, addSecondKey, type NewDomain } from './add-domain.ts';
export { type DkimKey, generateKey } from './dkim-key.ts';
export { normaliseDomainName, organizationOf } from './domain-name.ts';
export {
  type DomainState,
  type MailSettings,
  maySend,
  parseThrottle,
  printThrottle,
  type SendingDomain,
} from './domain.ts';
export { judge } from './judge.ts';
export { type Finding } from './findings.ts';
export { lookUp } from './look-up.ts';
export {
  findDomain,
  type DomainTrouble,
  findDomainById,
  listDomains,
  listDueDomains,
  listDueProbes,
  listKeys,
  listTroubles,
  lockDomain,
} from './reads.ts';
export { recordsOf } from './records.ts';
export { type DomainRecord } from './findings.ts';
export { resealKeys } from './reseal-keys.ts';
export { settle } from './settle.ts';
export { createSigners, findSending, type Signer, type Signers } from './signers.ts';
export { probeAnswer, probeToken } from './probe-token.ts';
export {
  claimCheck,
  claimProbe,
  deleteDomain,
  pauseDomain,
  resumeDomain,
  updateDomain,
  updateKeys,
  updateTracking,
} from './store.ts';
export { afterProbe, linksBaseOf, missOf, newTracking, TRACKING_PATHS } from './tracking.ts';
export { type Tracking } from './domain.ts';
export { type TrackingState } from './domain.ts';
export { createTrackingHosts, type TrackingHosts } from './tracking-hosts.ts';
