import { createPrivateKey, createPublicKey } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createEncrypter } from '../../../platform/crypto/encrypt.ts';
import {
  afterMoves,
  keyMoves,
  type DkimKey,
  freeSlot,
  generateKey,
  decryptKey,
  RETIRES_AFTER_MS,
  encryptKey,
  SETTLES_MS,
  selectorOf,
  type Slot,
} from './dkim-key.ts';
import type { DnsRecordStatus, DkimKeyState } from './findings.ts';

const NOW = 100 * 86_400_000;
const key = (slot: Slot, state: DkimKeyState, changedAt = NOW): DkimKey => ({
  projectId: 1,
  domainId: '01900000-0000-7000-8000-00000000000a',
  slot,
  state,
  publicKey: slot,
  createdAt: 0,
  changedAt,
});
const [a, b] = ['a', 'b'] as const;

test.each<[string, DkimKey[], [DnsRecordStatus, DnsRecordStatus], { slot: Slot; to: string }[]]>([
  [
    'the first key signs as soon as it is seen',
    [key(a, 'pending')],
    ['ok', 'unknown'],
    [{ slot: a, to: 'active' }],
  ],
  ['and not before', [key(a, 'pending')], ['missing', 'unknown'], []],
  [
    'a second one is published when it is seen',
    [key(a, 'active'), key(b, 'pending')],
    ['ok', 'ok'],
    [{ slot: b, to: 'published' }],
  ],
  [
    'and does not sign before all name servers have it',
    [key(a, 'active'), key(b, 'published', NOW - SETTLES_MS + 1)],
    ['ok', 'ok'],
    [],
  ],
  [
    'then it signs, and the first one retires',
    [key(a, 'active'), key(b, 'published', NOW - SETTLES_MS)],
    ['ok', 'ok'],
    [
      { slot: b, to: 'active' },
      { slot: a, to: 'retiring' },
    ],
  ],
  [
    'only if it is still seen',
    [key(a, 'active'), key(b, 'published', 0)],
    ['ok', 'missing'],
    [{ slot: b, to: 'pending' }],
  ],
  ['a DNS in trouble carries nothing on', [key(a, 'active'), key(b, 'published', 0)], ['ok', 'unknown'], []],
  [
    'nor does it take the first one away',
    [key(a, 'active'), key(b, 'pending')],
    ['unknown', 'ok'],
    [{ slot: b, to: 'published' }],
  ],
  [
    'where the record of the first one is gone, one that is seen signs at once',
    [key(a, 'active'), key(b, 'pending')],
    ['missing', 'ok'],
    [
      { slot: b, to: 'active' },
      { slot: a, to: 'retiring' },
    ],
  ],
  [
    'the previous key is kept for emails on their way',
    [key(a, 'retiring', NOW - RETIRES_AFTER_MS + 1), key(b, 'active')],
    ['missing', 'ok'],
    [],
  ],
  [
    'and then is gone',
    [key(a, 'retiring', NOW - RETIRES_AFTER_MS), key(b, 'active')],
    ['ok', 'ok'],
    [{ slot: a, to: 'gone' }],
  ],
])('rotation: %s', (...[, keys, [ofA, ofB], moves]) => {
  expect(keyMoves(keys, ({ slot }) => (slot === 'a' ? ofA : ofB), NOW)).toEqual(moves);
});

test('signs only with a key that was found in DNS and with at most one, and gives up a signing key only for another', () => {
  const status = fc.constantFrom<DnsRecordStatus>('ok', 'missing', 'wrong', 'unknown');
  const step = fc.record({ wait: fc.nat(4 * 86_400_000), a: status, b: status, rotates: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let [keys, now] = [[key('a', 'pending', 0)], 0];
      const seen = new Set<number>();
      for (const { wait, rotates, ...statuses } of steps) {
        now += wait;
        const slot = freeSlot(keys);
        if (rotates && slot && keys.every(({ state }) => state === 'active' || state === 'retiring'))
          keys = [...keys, { ...key(slot, 'pending', now), createdAt: now + 1 }];
        for (const dkimKey of keys) if (statuses[dkimKey.slot] === 'ok') seen.add(dkimKey.createdAt);
        const hadActive = keys.some(({ state }) => state === 'active');
        const retired = keys.filter(({ state }) => state === 'retiring');
        const moves = keyMoves(keys, (dkimKey) => statuses[dkimKey.slot], now);
        for (const { slot: gone } of moves.filter(({ to }) => to === 'gone')) {
          const was = retired.find((dkimKey) => dkimKey.slot === gone);
          expect(now - (was?.changedAt ?? now)).toBeGreaterThanOrEqual(RETIRES_AFTER_MS);
        }
        keys = afterMoves(keys, moves, now);
        const active = keys.filter(({ state }) => state === 'active');
        expect(active.length).toBeLessThanOrEqual(1);
        if (hadActive) expect(active.length).toBe(1);
        for (const dkimKey of active) expect(seen.has(dkimKey.createdAt)).toBe(true);
      }
    }),
  );
});

test('generates an RSA key of 2048 bits with matching halves', async () => {
  const { publicKey, privateKey } = await generateKey();
  const secret = createPrivateKey(privateKey);
  expect(secret.asymmetricKeyDetails?.modulusLength).toBe(2048);
  expect(createPublicKey(secret).export({ type: 'spki', format: 'der' }).toString('base64')).toBe(publicKey);
});

test('decrypts a private key only for its own project, domain and slot', () => {
  const encrypter = createEncrypter('secret', null, 'tests');
  const keyId = { projectId: 1, domainId: 'd', slot: 'a' } as const;
  const encrypted = encryptKey(encrypter, 'private', keyId);
  expect(decryptKey(encrypter, encrypted, keyId)).toBe('private');
  for (const other of [{ projectId: 2 }, { domainId: 'e' }, { slot: 'b' as const }])
    expect(() => decryptKey(encrypter, encrypted, { ...keyId, ...other })).toThrow();
});

test('gives different selectors to two domains created at the same time', () => {
  const [first, second] = ['01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-0000000000ff'];
  expect(new Set([selectorOf(first, 'a'), selectorOf(first, 'b'), selectorOf(second, 'a')]).size).toBe(3);
  expect(selectorOf('01900000-0000-7000-8000-00ffffffffff', 'a')).toBe('bk77777777a');
});
