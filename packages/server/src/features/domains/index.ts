export { addDomain, addSecondKey, type NewDomain } from './add-domain.ts';
export { type DkimKey, generateKey } from './dkim-key.ts';
export { normaliseDomainName } from './domain-name.ts';
export {
  type DomainState,
  type MailSettings,
  maySend,
  parseThrottle,
  printThrottle,
  type SendingDomain,
} from './domain.ts';
export { type Finding, judge } from './judge.ts';
export { lookUp } from './look-up.ts';
export {
  findDomain,
  findDomainById,
  listDomains,
  listDueDomains,
  listKeys,
  listTroubles,
  lockDomain,
} from './reads.ts';
export { type DomainRecord, recordsOf } from './records.ts';
export { resealKeys } from './reseal-keys.ts';
export { settle } from './settle.ts';
export { createSigners, type Signer, type Signers } from './signers.ts';
export { claimCheck, deleteDomain, updateDomain, updateKeys } from './store.ts';
