import { expect, test } from 'vitest';
import { splitQuoted } from './quoted.ts';

test.each([
  ['Thanks!\n\nAda', { own: 'Thanks!\n\nAda', quoted: '' }],
  ['Thanks!\n\n> Hello\n> Ada', { own: 'Thanks!', quoted: '> Hello\n> Ada' }],
  ['Yes\r\n\r\nOn 3 May Acme wrote:\r\n> Hello\r\n', { own: 'Yes', quoted: 'On 3 May Acme wrote:\n> Hello' }],
  ['> Shall we?\nYes', { own: '> Shall we?\nYes', quoted: '' }],
  ['> Shall we?\nYes\n> And then?', { own: '> Shall we?\nYes', quoted: '> And then?' }],
  ['> all of it', { own: '', quoted: '> all of it' }],
  ['', { own: '', quoted: '' }],
  ['He wrote:\nnothing', { own: 'He wrote:\nnothing', quoted: '' }],
])('splitQuoted › separates the quotation at the end of %j', (text, expected) => {
  expect(splitQuoted(text)).toEqual(expected);
});
