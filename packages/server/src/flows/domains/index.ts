export { addDomain, removeDomain, resumeDomain, rotateKey, setDomain } from './change-domain.ts';
export { checkDomain } from './check-domain.ts';
export { probeDomain, trackDomain } from './track-domain.ts';
export { type DomainView, requireDomain, showDomain, showDomains } from './view.ts';
