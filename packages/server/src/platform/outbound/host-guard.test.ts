import { describe, expect, test } from 'vitest';
import type { DnsReply } from '../dns/resolver.ts';
import { hostGuard } from './host-guard.ts';

const resolver = (reply: DnsReply) => ({ addresses: () => Promise.resolve(reply) });
const found = (...values: string[]) => resolver({ kind: 'found', values });

describe('hostGuard', () => {
  test('returns the first public address of a name', async () => {
    const resolve = hostGuard({ allowPrivate: false, resolver: found('10.0.0.1', '93.184.215.14') });
    expect(await resolve('smtp.example.com')).toBe('93.184.215.14');
  });

  test.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:10.0.0.1', 'fd00::1', '0.0.0.0'])(
    'refuses %s as a host, and a name that resolves to it',
    async (address) => {
      const resolve = hostGuard({ allowPrivate: false, resolver: found(address) });
      await expect(resolve(address)).rejects.toThrow('has no public address');
      await expect(resolve('smtp.example.com')).rejects.toThrow('has no public address');
      await expect(resolve('localhost')).rejects.toThrow('has no public address');
    },
  );

  test('allows private addresses in development, and never those of cloud metadata', async () => {
    const resolve = hostGuard({ allowPrivate: true, resolver: found('169.254.169.254', '10.0.0.1') });
    expect(await resolve('smtp.internal')).toBe('10.0.0.1');
    expect(await resolve('localhost')).toBe('127.0.0.1');
    await expect(resolve('169.254.169.254')).rejects.toThrow('has no public address');
  });

  test('names the failure of the DNS', async () => {
    const resolve = hostGuard({
      allowPrivate: false,
      resolver: resolver({ kind: 'none', code: 'ENOTFOUND' }),
    });
    await expect(resolve('smtp.example.com')).rejects.toThrow('no address for smtp.example.com (ENOTFOUND)');
  });
});
