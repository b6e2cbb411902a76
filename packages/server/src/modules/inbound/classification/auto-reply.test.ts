import { expect, test } from 'vitest';
import { classifyMail } from './classify-mail.ts';
import { isOnlyTitledAuto } from './auto-reply.ts';
import { readMail } from './read-mail.ts';

const read = (lines: string[]) => readMail(Buffer.from([...lines, '', 'Yes, please.', ''].join('\r\n')));
const encoded = (subject: string): string => `=?utf-8?B?${Buffer.from(subject).toString('base64')}?=`;

test.each([
  ['AW: Abwesenheiten jetzt einfacher verwalten', 'Abwesenheiten jetzt einfacher verwalten'],
  ['Re: Away from the office? Do this', 'Away from the  office? Do this '],
  ['RE: 休暇申請', '休暇申請'],
  ['Re: Out of office', 'Re: AW: Out of office'],
])('takes %j as a reply to an email with the subject %j', async (subject, email) => {
  const mail = await read(['From: ada@home.test', `Subject: ${encoded(subject)}`]);
  expect(classifyMail(mail).kind).toBe('auto_reply');
  expect(isOnlyTitledAuto(mail, { from: 'ada@home.test', to: [], subject: email })).toBe(true);
});

test('keeps a reply automatic if it is marked or its subject differs from that of the email', async () => {
  const head = ['From: ada@home.test', 'Subject: Re: Out of office'];
  const email = { from: 'ada@home.test', to: [], subject: 'Out of office' };
  expect(isOnlyTitledAuto(await read([...head, 'Auto-Submitted: auto-replied']), email)).toBe(false);
  expect(isOnlyTitledAuto(await read([...head, 'X-Autoreply: yes']), email)).toBe(false);
  expect(isOnlyTitledAuto(await read(head), { ...email, from: '' })).toBe(false);
  expect(isOnlyTitledAuto(await read(head), { ...email, subject: 'Welcome' })).toBe(false);
  const away = await read(['From: ada@home.test', 'Subject: Auto: Out of office']);
  expect(isOnlyTitledAuto(away, email)).toBe(false);
});
