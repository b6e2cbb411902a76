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

test('an address is refused only after more failures than normal use ever makes', () => {
  const { guard, fail } = guardAt({ failuresMax: 1_000, windowMs: 10_000, addressesMax: 10 });
  fail('192.0.2.1', 1_000);
  expect(guard.refusal('192.0.2.1')).toBeNull();
  fail('192.0.2.1', 1);
  expect(guard.refusal('192.0.2.1')).toMatchObject({ code: 'rate_limited', retryAfterS: 10 });
});

test('by default that is one thousand in ten seconds', () => {
  const guard = createAddressGuard({ now: () => 0 });
  for (let count = 0; count < 1_000; count += 1) guard.failed('192.0.2.1');
  expect(guard.refusal('192.0.2.1')).toBeNull();
  guard.failed('192.0.2.1');
  expect(guard.refusal('192.0.2.1')?.retryAfterS).toBe(10);
});

test('asking counts nothing, so a caller whose keys are good is never refused', () => {
  const { guard } = guardAt();
  for (let count = 0; count < 10_000; count += 1) expect(guard.refusal('192.0.2.1')).toBeNull();
});

test('a refusal ends with its window, and says when', () => {
  const { clock, guard, fail } = guardAt();
  fail('192.0.2.1', 4);
  clock.at += 8_500;
  expect(guard.refusal('192.0.2.1')?.retryAfterS).toBe(2);
  clock.at += 1_500;
  expect(guard.refusal('192.0.2.1')).toBeNull();
  fail('192.0.2.1', 3);
  expect(guard.refusal('192.0.2.1')).toBeNull();
});

test('one address never speaks for another', () => {
  const { guard, fail } = guardAt();
  fail('192.0.2.1', 4);
  expect(guard.refusal('192.0.2.2')).toBeNull();
});

test('IPv6 is counted by /64, IPv4-mapped as IPv4', () => {
  const { guard, fail } = guardAt();
  fail('2001:db8:0:1::1', 2);
  fail('2001:db8:0:1:ffff::2', 2);
  expect(guard.refusal('2001:db8:0:1:abcd::9')).not.toBeNull();
  expect(guard.refusal('2001:db8:0:2::1')).toBeNull();
  fail('::ffff:192.0.2.7', 4);
  expect(guard.refusal('192.0.2.7')).not.toBeNull();
  expect(guard.refusal('::ffff:192.0.2.8')).toBeNull();
});

test('the memory is bounded: the address that failed longest ago is forgotten first', () => {
  const { guard, fail } = guardAt();
  for (const last of [1, 2, 3, 4]) fail(`192.0.2.${last}`, 4);
  fail('192.0.2.1', 1);
  fail('192.0.2.5', 1);
  expect(guard.refusal('192.0.2.1')).not.toBeNull();
  expect(guard.refusal('192.0.2.2')).toBeNull();
  expect(guard.refusal('192.0.2.3')).not.toBeNull();
});
