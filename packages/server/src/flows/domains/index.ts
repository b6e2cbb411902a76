export { addDomain, pauseDomain, removeDomain, resumeDomain, rotateKey, setDomain } from './change-domain.ts';
export { checkDomain } from './check-domain.ts';
export { lookAtDomain } from './look-at-domain.ts';
export { type ShownDomain, toShown } from './shown-domain.ts';
export { probeDomain, trackDomain } from './track-domain.ts';
export { type DomainView, requireDomain, showDomain, showDomains } from './view.ts';
