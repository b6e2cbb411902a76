import { deliveryAddress } from '../../base/address.ts';

/** What a local part may hold without quotes, and a domain of labels: nothing in it ends an address or begins another. */
const LOCAL = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}$/;
const DOMAIN = /^(?=.{1,253}$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/;

/** An address as mail servers are told it, its domain in A-labels; null for what cannot be written without quotes. */
export function wireAddress(address: string): string | null {
  const wire = deliveryAddress(address);
  const at = wire.lastIndexOf('@');
  return LOCAL.test(wire.slice(0, Math.max(at, 0))) && DOMAIN.test(wire.slice(at + 1)) ? wire : null;
}
