import { expect, test } from 'vitest';
import { splitQuoted } from './quoted.ts';

test.each([
  ['Thanks!\n\nAda', { body: 'Thanks!\n\nAda', quoted: '' }],
  ['Thanks!\n\n> Hello\n> Ada', { body: 'Thanks!', quoted: '> Hello\n> Ada' }],
  [
    'Yes\r\n\r\nOn 3 May Acme wrote:\r\n> Hello\r\n',
    { body: 'Yes', quoted: 'On 3 May Acme wrote:\n> Hello' },
  ],
  ['> Shall we?\nYes', { body: '> Shall we?\nYes', quoted: '' }],
  ['> Shall we?\nYes\n> And then?', { body: '> Shall we?\nYes', quoted: '> And then?' }],
  ['> all of it', { body: '', quoted: '> all of it' }],
  ['', { body: '', quoted: '' }],
  ['He wrote:\nnothing', { body: 'He wrote:\nnothing', quoted: '' }],
])('splitQuoted › separates the quotation at the end of %j', (text, expected) => {
  expect(splitQuoted(text)).toEqual(expected);
});
