import { expect, test } from 'vitest';
import { createConnectionPolicy } from './server.ts';

function connectionPolicy() {
  const clock = { now: 0 };
  return {
    clock,
    ...createConnectionPolicy({
      now: () => clock.now,
      acceptsRecipient: (address) => address === 'known@x.test',
      isNear: (remote) => remote === NEAR,
    }),
  };
}

const [FAR, NEAR] = ['203.0.113.7', '10.0.0.2'];

test('refuses an unknown recipient permanently, and accepts a known one', () => {
  const { writesTo } = connectionPolicy();
  expect(writesTo('known@x.test', FAR)).toBeNull();
  expect(writesTo('other@x.test', FAR)).toMatchObject({
    code: 550,
    text: expect.stringMatching(/^5\.1\.1 /) as string,
  });
});

test('limits the connections of one address, and frees them when they close', () => {
  const { connects, leaves } = connectionPolicy();
  for (let n = 0; n < 20; n += 1) expect(connects(FAR)).toBeNull();
  expect(connects(FAR)).toMatchObject({ code: 421 });
  expect(connects('203.0.113.8')).toBeNull();
  leaves(FAR);
  expect(connects(FAR)).toBeNull();
  expect(connects(FAR)).toMatchObject({ code: 421 });
});

test('keeps places for a proxy of ours, however many other clients connect', () => {
  const { connects, leaves } = connectionPolicy();
  for (let n = 0; n < 800; n += 1) expect(connects(`203.0.${n >> 4}.${n & 15}`)).toBeNull();
  expect(connects('198.51.100.1')).toMatchObject({ code: 421 });
  expect(connects(NEAR)).toBeNull();
  leaves(NEAR);
  expect(connects('198.51.100.1')).toMatchObject({ code: 421 });
  leaves('203.0.0.0');
  expect(connects('198.51.100.1')).toBeNull();
});

test('limits the recipients of one address per minute, known or not, and accepts it again later', () => {
  const { clock, writesTo } = connectionPolicy();
  for (let n = 0; n < 600; n += 1) writesTo(n % 2 ? 'known@x.test' : 'other@x.test', FAR);
  expect(writesTo('known@x.test', FAR)).toMatchObject({ code: 451 });
  expect(writesTo('known@x.test', '203.0.113.8')).toBeNull();
  clock.now += 1_000;
  for (let n = 0; n < 10; n += 1) expect(writesTo('known@x.test', FAR)).toBeNull();
  expect(writesTo('known@x.test', FAR)).toMatchObject({ code: 451 });
});

test('counts all addresses of one IPv6 network as one, and IPv4-mapped IPv6 as IPv4', () => {
  const { connects } = connectionPolicy();
  for (let n = 0; n < 20; n += 1) expect(connects(`2001:db8:1:2::${n.toString(16)}`)).toBeNull();
  expect(connects('2001:db8:1:2:ffff::1')).toMatchObject({ code: 421 });
  expect(connects('2001:db8:1:3::1')).toBeNull();
  for (let n = 0; n < 20; n += 1) connects(`::ffff:${FAR}`);
  expect(connects(FAR)).toMatchObject({ code: 421 });
});

test('never limits a proxy of ours, because it brings the mail of all others', () => {
  const { connects, writesTo } = connectionPolicy();
  for (let n = 0; n < 2_000; n += 1) {
    expect(connects(NEAR)).toBeNull();
    expect(writesTo('known@x.test', NEAR)).toBeNull();
  }
});
