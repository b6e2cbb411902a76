import { expect, it } from 'vitest';
import { relayId } from './send-result.ts';

it.each([
  ['250 2.0.0 Ok: queued as 4XyZ0f2mSgz9', '4XyZ0f2mSgz9'],
  [
    '250 Ok 0100018d5f2c1e3b-6a0f1f0c-6a39-4c43-9f3e-000000',
    '0100018d5f2c1e3b-6a0f1f0c-6a39-4c43-9f3e-000000',
  ],
  ['250 OK id=1rXxyz-0000Ab-1A', '1rXxyz-0000Ab-1A'],
  ['250 Message Queued (7B2AF2C0-8C0B-4F5A-9A0B-1F1E4C3D2B1A.1)', '7B2AF2C0-8C0B-4F5A-9A0B-1F1E4C3D2B1A.1'],
  ['250 2.0.0 43H7abcd012345 Message accepted for delivery', '43H7abcd012345'],
  ['250 2.0.0 OK  1706933106 d2e1a72fcca58-6ddf4-2si1.3 - gsmtp', 'd2e1a72fcca58-6ddf4-2si1.3'],
  [
    '250 2.6.0 <a@b.test> [InternalId=12345678, Hostname=X.PROD] 9 bytes Queued mail for delivery',
    '12345678',
  ],
  ['250 Great success', null],
  ['250 OK', null],
  ['', null],
])('reads from %s the email id %s', (reply, id) => {
  expect(relayId(reply)).toBe(id);
});
