import { addressGroup } from '../net/network-address.ts';
import type { Clock } from '../time/clock.ts';
import { Fault } from '../fault.ts';

/**
 * A coarse guard against one address that tries key after key. Only failures count, so a customer behind a crowded address is never counted
 * while their key is valid. The caller checks for a refusal only when it has not verified the key.
 */
export type AddressGuard = {
  /** Called before an unverified key is looked up; never for a verified one. */
  refusal(address: string): Fault | null;
  failed(address: string): void;
};

export type AddressGuardLimits = { failuresMax: number; windowMs: number; addressesMax: number };

/** A client with a wrong key in a tight loop makes some hundred failures in ten seconds; a thousand is a search. */
const LIMITS: AddressGuardLimits = { failuresMax: 1_000, windowMs: 10_000, addressesMax: 10_000 };

type Window = { openedAt: number; failures: number };

export function createAddressGuard(clock: Clock, limits: AddressGuardLimits = LIMITS): AddressGuard {
  /** In the order of the last failure, so the first is the one to forget. */
  const windows = new Map<string, Window>();

  function openWindow(group: string): Window | undefined {
    const window = windows.get(group);
    return window && clock.now() < window.openedAt + limits.windowMs ? window : undefined;
  }

  return {
    refusal(address) {
      if (windows.size === 0) return null;
      const window = openWindow(addressGroup(address));
      if (!window || window.failures <= limits.failuresMax) return null;
      const waitMs = window.openedAt + limits.windowMs - clock.now();
      return new Fault('rate_limited', { retryAfterS: Math.max(1, Math.ceil(waitMs / 1_000)) });
    },
    failed(address) {
      const group = addressGroup(address);
      const window = openWindow(group) ?? { openedAt: clock.now(), failures: 0 };
      window.failures += 1;
      windows.delete(group);
      windows.set(group, window);
      if (windows.size > limits.addressesMax) forgetOldest(windows);
    },
  };
}

function forgetOldest(windows: Map<string, Window>): void {
  const [oldest] = windows.keys();
  if (oldest !== undefined) windows.delete(oldest);
}
