import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codesToDrop, type WaitingCode } from './device-limit.ts';

const code = (address: string, at: number): WaitingCode => ({ codeHash: Buffer.from(String(at)), address });
const codes = (...addresses: string[]): WaitingCode[] => addresses.map(code);
const dropped = (...addresses: string[]): string | undefined =>
  codesToDrop(codes(...addresses), 1)[0]?.address;

/** Adds a code for each address in turn, and drops some when there are more than `max`. Returns the remaining addresses. */
function addressesAfter(addresses: string[], max: number): string[] {
  let waiting: WaitingCode[] = [];
  for (const [at, address] of addresses.entries()) {
    const gone = new Set(waiting.length < max ? [] : codesToDrop(waiting, 3));
    waiting = [...waiting.filter((waitingCode) => !gone.has(waitingCode)), code(address, at)];
  }
  return waiting.map(({ address }) => address);
}

describe('codesToDrop', () => {
  test('chooses the oldest code of the busiest network', () => {
    const waiting = codes('10.0.0.1', '10.9.0.1', '10.9.0.1');
    expect(codesToDrop([], 1)).toEqual([]);
    expect(codesToDrop(waiting, 1)).toEqual([waiting[1]]);
    expect(codesToDrop(waiting, 2)).toEqual([waiting[1], waiting[0]]);
    expect(codesToDrop(waiting, 9)).toHaveLength(3);
  });

  test('counts many small networks of one wide network together', () => {
    const flood = ['2001:db8:1:1::1', '2001:db8:1:2::1', '2001:db8:2:1::1'];
    expect(dropped('2001:db9::1', '2001:db9::1', ...flood)).toBe(flood[0]);
    expect(dropped('10.1.0.1', '10.1.0.1', '10.2.0.1', '10.2.1.1', '10.2.2.1')).toBe('10.2.0.1');
  });

  test('finds the busiest small network within the busiest wide one', () => {
    const office = '2001:db8:1:1::1';
    const flood = ['2001:db8:2:1::1', '2001:db8:2:2::1', '2001:db8:2:2::2'];
    expect(dropped(office, ...flood)).toBe(flood[1]);
  });

  test('reads an IPv4 address written as IPv6 as IPv4, and treats any other text as its own network', () => {
    expect(dropped('10.8.0.1', '::ffff:10.9.0.1', '10.9.0.1')).toBe('::ffff:10.9.0.1');
    expect(dropped('10.8.0.1', 'unknown', 'unknown')).toBe('unknown');
  });

  test('keeps codes from outside while a flood comes from fewer wide networks than there is space for codes', () => {
    const [max, floods] = [20, 60];
    const wide = fc.integer({ min: 1, max: 15 });
    const flood = fc.array(
      fc
        .tuple(wide, fc.nat(65_535), fc.nat(65_535))
        .map(([a, b, c]) => `2001:${a.toString(16)}:${b.toString(16)}:${c.toString(16)}::1`),
      { minLength: floods, maxLength: floods },
    );
    fc.assert(
      fc.property(flood, fc.nat(floods), (addresses, at) => {
        const honest = '203.0.113.7';
        const left = addressesAfter(addresses.toSpliced(at, 0, honest), max);
        expect(left).toContain(honest);
        expect(left.length).toBeLessThanOrEqual(max);
      }),
    );
  });
});
