import { expect, test } from 'vitest';
import { typing } from './settings-form.ts';

const NOTHING = { changes: {}, seen: {} };

test('sends the value that the form first showed, even if it has changed since', () => {
  const once = typing(NOTHING, { name: 'throttle', text: '5/s', stored: '10/s' });
  const twice = typing(once, { name: 'throttle', text: '4/s', stored: '7/s' });
  expect(twice).toEqual({ changes: { throttle: '4/s' }, seen: { throttle: '10/s' } });
});

test('drops a change that restores the stored value, and keeps the others', () => {
  const two = typing(typing(NOTHING, { name: 'footer', text: 'Bye', stored: 'none' }), {
    name: 'throttle',
    text: '5/s',
    stored: '10/s',
  });
  expect(typing(two, { name: 'throttle', text: '10/s', stored: '10/s' })).toEqual({
    changes: { footer: 'Bye' },
    seen: { footer: 'none' },
  });
});
