import { deliveryAddress } from '../net/address.ts';

/** A local part that needs no quotes, and a domain of labels: neither can end an address or begin another. */
const LOCAL = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}$/;
const DOMAIN = /^(?=.{1,253}$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/;

/** Returns an address for an SMTP command or a header field, with its domain in A-labels; null if it would need quotes. */
export function wireAddress(address: string): string | null {
  const wire = deliveryAddress(address);
  const at = wire.lastIndexOf('@');
  return LOCAL.test(wire.slice(0, Math.max(at, 0))) && DOMAIN.test(wire.slice(at + 1)) ? wire : null;
}
