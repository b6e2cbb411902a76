import { expect, test } from 'vitest';
import { addressHint } from './identity-fields.tsx';

const domain = (name: string, state: string, paused: string | null = null) => ({
  id: name,
  name,
  state,
  paused,
  throttle: 'off',
});

test('addressHint › describes the state of the domain or its parent domain', () => {
  const domains = [
    domain('x.org', 'verified'),
    domain('y.org', 'pending'),
    domain('z.org', 'verified', 'complaints'),
  ];
  expect(addressHint('ada@x.org', domains)).toBe('x.org is verified');
  expect(addressHint('ada@news.X.org', domains)).toBe('x.org is verified');
  expect(addressHint('ada@notx.org', domains)).toContain('notx.org was not added');
  expect(addressHint('ada@y.org', domains)).toContain('not verified');
  expect(addressHint('ada@z.org', domains)).toBe('z.org is paused: complaints');
  expect(addressHint('none', domains)).toContain('An address at an added domain');
});
