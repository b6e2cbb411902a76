export { addDomain, removeDomain, rotateKey, setDomain } from './change-domain.ts';
export { checkDomain } from './check-domain.ts';
export { type DomainView, requireDomain, showDomain, showDomains } from './view.ts';
