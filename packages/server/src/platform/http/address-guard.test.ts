import { expect, test } from 'vitest';
import { createAddressGuard } from './address-guard.ts';

const LIMITS = { failuresMax: 3, windowMs: 10_000, addressesMax: 4 };

function guardAt(limits = LIMITS) {
  const clock = { at: 1_000_000, now: () => clock.at };
  const guard = createAddressGuard(clock, limits);
  const fail = (address: string, times: number): void => {
    for (let count = 0; count < times; count += 1) guard.failed(address);
  };
  return { clock, guard, fail };
}

test('refuses an address only after more failures than normal use ever makes', () => {
  const { guard, fail } = guardAt({ failuresMax: 1_000, windowMs: 10_000, addressesMax: 10 });
  fail('192.0.2.1', 1_000);
  expect(guard.refusal('192.0.2.1')).toBeNull();
  fail('192.0.2.1', 1);
  expect(guard.refusal('192.0.2.1')).toMatchObject({ code: 'rate_limited', retryAfterS: 10 });
});

test('allows a thousand failures in ten seconds by default', () => {
  const guard = createAddressGuard({ now: () => 0 });
  for (let count = 0; count < 1_000; count += 1) guard.failed('192.0.2.1');
  expect(guard.refusal('192.0.2.1')).toBeNull();
  guard.failed('192.0.2.1');
  expect(guard.refusal('192.0.2.1')?.retryAfterS).toBe(10);
});

test('counts no lookups, so it never refuses a caller whose keys are valid', () => {
  const { guard } = guardAt();
  for (let count = 0; count < 10_000; count += 1) expect(guard.refusal('192.0.2.1')).toBeNull();
});

test('ends a refusal with its window, and returns when that is', () => {
  const { clock, guard, fail } = guardAt();
  fail('192.0.2.1', 4);
  clock.at += 8_500;
  expect(guard.refusal('192.0.2.1')?.retryAfterS).toBe(2);
  clock.at += 1_500;
  expect(guard.refusal('192.0.2.1')).toBeNull();
  fail('192.0.2.1', 3);
  expect(guard.refusal('192.0.2.1')).toBeNull();
});

test('counts each address on its own', () => {
  const { guard, fail } = guardAt();
  fail('192.0.2.1', 4);
  expect(guard.refusal('192.0.2.2')).toBeNull();
});

test('counts IPv6 by /64, and IPv4-mapped addresses as IPv4', () => {
  const { guard, fail } = guardAt();
  fail('2001:db8:0:1::1', 2);
  fail('2001:db8:0:1:ffff::2', 2);
  expect(guard.refusal('2001:db8:0:1:abcd::9')).not.toBeNull();
  expect(guard.refusal('2001:db8:0:2::1')).toBeNull();
  fail('::ffff:192.0.2.7', 4);
  expect(guard.refusal('192.0.2.7')).not.toBeNull();
  expect(guard.refusal('::ffff:192.0.2.8')).toBeNull();
});

test('bounds its memory: forgets the address whose last failure is oldest', () => {
  const { guard, fail } = guardAt();
  for (const last of [1, 2, 3, 4]) fail(`192.0.2.${last}`, 4);
  fail('192.0.2.1', 1);
  fail('192.0.2.5', 1);
  expect(guard.refusal('192.0.2.1')).not.toBeNull();
  expect(guard.refusal('192.0.2.2')).toBeNull();
  expect(guard.refusal('192.0.2.3')).not.toBeNull();
});
