import fc from 'fast-check';
import { type DefaultTreeAdapterMap, parse } from 'parse5';
import PostalMime, { type Email } from 'postal-mime';
import { expect, test } from 'vitest';
import { HOUR } from '../../../testing/factories/drafts.ts';
import {
  type MailScenario,
  newVerifiedScenario,
  openMailStage,
} from '../../../testing/factories/mail-stage.ts';
import { testRenderer } from '../../../testing/factories/send-services.ts';
import type { SunkEmail } from '../../../testing/servers/smtp-sink.ts';
import { normaliseAddress } from '../../platform/net/address.ts';
import { createTemplate } from '../templates/write-template.ts';

/**
 * Sends hostile user data by the API into emails, over SMTP to a mail server that keeps them. No value may affect which users get an email,
 * which header fields it has, or which elements its page has.
 */
const stage = await openMailStage();
const { db } = stage.server;

const TRIES = [
  '\r\nBcc: eve@evil.test',
  'Ada\r\n\r\n<script>alert(1)</script>',
  'Ada\nTo: eve@evil.test\n',
  'Ada\rCc: eve@evil.test',
  'Ada\u0000Eve',
  'Ada, eve@evil.test',
  'Ada" <eve@evil.test>, "Bob',
  'Ada <eve@evil.test>',
  '"Ada"; eve@evil.test',
  '(comment) Ada \\" \\\\',
  '=?utf-8?q?=0D=0ABcc:_eve@evil.test?=',
  '=?utf-8?b?DQpCY2M6IGV2ZUBldmlsLnRlc3Q=?=',
  'Ada\u2028Bcc: eve@evil.test\u2029Cc: eve@evil.test',
  'Ada\u0085Bcc: eve@evil.test',
  '\u202Egro.live@ecila\u202C',
  'A\u200Bd\u200Da\u2060\uFEFF',
  'A\u0301d\u0301a 👩‍👩‍👧‍👦 🇳🇱 \u{E0041}',
  '＜script＞alert(1)＜/script＞',
  '\uD800 alone \uDFFF',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '" style="background:url(javascript:alert(1))',
  '</td></tr></table></body></html><script>1</script>',
  '<!--[if mso]><script>1</script><![endif]-->',
  '--> <b>',
  '</title></style><script>1</script>',
  '[click](https://evil.test)',
  '](https://evil.test) [',
  '![x](https://evil.test/x.png)',
  '<https://evil.test>',
  'https://evil.test/a?b=c&d="e',
  'www.evil.test',
  'javascript:alert(1)',
  'data:text/html;base64,PHNjcmlwdD4=',
  '//evil.test',
  '@evil.test/',
  '../../..',
  '{{7|times:7}}',
  '{{ user.email }} {% raw %}',
  '{% for x in (1..9) %}boom{% endfor %}',
  'https://unsubscribe.invalid/',
  '%BODY% %FOOTER%',
  '&lt;script&gt; &#x3C;script&#x3E;',
  '```\n<b>\n```',
  '# Title\n\n> quote\n\n---\n\n| a | b |\n|---|---|\n',
  '<svg/onload=alert(1)>',
  '.\r\nQUIT\r\n',
  'MAIL FROM:<eve@evil.test>\r\n.\r\n',
];
const SIGNS = [
  ...'<>&"\'`[](){}!\\*_~|#-+=:;/?@.,%$^'.split(''),
  '{{',
  '}}',
  '{%',
  '%}',
  'https://',
  'mailto:',
  '&lt;',
  '😀',
];
const GAPS = [
  ' ',
  '\n',
  '\r\n',
  '\t',
  '\u2028',
  '\u0000',
  '\u202E',
  '\u00A0',
  '\u200B',
  '\uFEFF',
  '\u0007',
  '\u001B',
];
const WORDS = ['Ada', 'script', 'evil', 'Bcc', 'onload', 'plan'];
const payloads = [
  ...TRIES,
  ...fc.sample(
    fc.oneof(
      fc
        .array(fc.constantFrom(...TRIES, ...SIGNS, ...GAPS, ...WORDS), { minLength: 2, maxLength: 10 })
        .map((all) => all.join('')),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
    ),
    { numRuns: 500 - TRIES.length, seed: 20_260_115 },
  ),
];

const VALUES =
  '{{ user.name | default: "there" }}, {{ user.plan | default: "there" }}, {{ event.what | default: "there" }}';
const MARKDOWN = {
  name: 'in_markdown',
  subject: `About {{ user.name | default: "there" }} and {{ event.what | default: "there" }}`,
  preheader: 'For {{ user.plan | default: "there" }}',
  body: `# Hi {{ user.name | default: "there" }}!\n\n${VALUES} [{{ user.plan | default: "there" }}](https://app.test/a/{{ user.name | default: "x" }}?b={{ event.what | default: "x" }})\n\n- {{ user.name | default: "there" }} one\n\n> {{ event.what | default: "there" }} said\n\n**b{{ user.name | default: "there" }}b** ![{{ user.plan | default: "there" }}](https://app.test/i.png "t {{ event.what | default: "there" }}")`,
};
const MJML = {
  name: 'in_mjml',
  format: 'mjml',
  subject: '{{ event.what | default: "there" }}',
  preheader: '{{ user.name | default: "there" }}',
  body: `<mjml><mj-body><mj-section><mj-column><mj-text>${VALUES} <b title="t {{ user.name | default: "x" }}">b</b> <a title='s {{ user.plan | default: "x" }}' href='https://app.test/{{ event.what | default: "x" }}'>x</a></mj-text><mj-button href="https://app.test/{{ user.name | default: "x" }}">Go {{ user.plan | default: "there" }}</mj-button><mj-image src="https://app.test/i.png" alt="{{ event.what | default: "x" }}" /></mj-column></mj-section></mj-body></mjml>`,
};

async function openScenario(): Promise<MailScenario> {
  const scenario = await newVerifiedScenario(stage);
  const { projectId } = scenario;
  for (const document of [MARKDOWN, MJML]) {
    await createTemplate({ db, renderer: testRenderer }, { projectId, document, follow: true, actor: 'ann' });
    await scenario.rule({
      name: document.name,
      when: { event: document.name },
      steps: [{ draft: document.name }],
    });
  }
  return scenario;
}

type TestUser = { userId: string; value: string; email?: string };

/** Sends a user to the API whose data all have this value. Returns false if the API rejects the text. */
async function sendUser(
  scenario: MailScenario,
  { userId, value, email = `${userId}@home.test` }: TestUser,
): Promise<boolean> {
  try {
    await scenario.user(userId, { email, traits: { name: value, plan: value } });
    for (const name of ['in_markdown', 'in_mjml', 'user_signed_up'])
      await scenario.event(userId, name, { what: value, plan: value });
    return true;
  } catch {
    return false;
  }
}

type Read = { mail: Email; names: string[]; page: string[]; email: SunkEmail };

async function read(email: SunkEmail): Promise<Read> {
  const mail = await PostalMime.parse(Buffer.from(email.raw, 'latin1'));
  const [head = ''] = email.raw.split('\r\n\r\n');
  const names = head.split('\r\n').flatMap((line) => /^([^\s:]+):/.exec(line)?.[1] ?? []);
  return { mail, names, page: skeleton(mail.html ?? ''), email };
}

/** Returns everything of a page except its words and the values of text attributes. Addresses are reduced to their origin. */
function skeleton(html: string): string[] {
  const lines: string[] = [];
  const visit = (node: DefaultTreeAdapterMap['node'], depth: number): void => {
    if ('tagName' in node) {
      const attributes = node.attrs.map(({ name, value }) => {
        if (name === 'href' || name === 'src') return `${name}=${new URL(value).origin}`;
        return ['alt', 'title', 'aria-label'].includes(name) ? name : `${name}=${value}`;
      });
      lines.push(`${depth} ${node.tagName} ${attributes.join(' ')}`);
    }
    if (node.nodeName === '#comment')
      lines.push(`${depth} #comment ${(node as DefaultTreeAdapterMap['commentNode']).data}`);
    if ('childNodes' in node) for (const child of node.childNodes) visit(child, depth + 1);
  };
  visit(parse(html), 0);
  return lines;
}

async function emailsTo(scenario: MailScenario, address: string): Promise<Read[]> {
  const arrived = scenario.arrived().filter(({ to }) => to.includes(address));
  return (await Promise.all(arrived.map(read))).toSorted((a, b) => (ruleOf(a) < ruleOf(b) ? -1 : 1));
}

const ruleOf = ({ mail }: Read): string => mail.headers.find(({ key }) => key === 'feedback-id')?.value ?? '';
const wordsOf = (text: string): string[] => text.match(/[A-Za-z]{4,12}/g) ?? [];

/** Checks what must hold for an email whatever it contains, compared with the same email for a harmless value. */
function expectSame(
  received: Read,
  harmless: Read,
  { address, domain }: { address: string; domain: string },
): void {
  const { mail, email } = received;
  expect(email.to).toEqual([address]);
  expect(email.from).toMatch(/^b\+[a-z2-7.]+@bounce\./);
  expect(received.names).toEqual(harmless.names);
  expect(mail.to).toEqual([{ address, name: '' }]);
  expect(mail.from?.address).toBe(`hello@${domain}`);
  expect(mail.replyTo).toEqual([{ address: `help@${domain}`, name: '' }]);
  expect([mail.cc, mail.bcc, mail.sender]).toEqual([undefined, undefined, undefined]);
  expect(mail.attachments).toEqual([]);
  expect(received.page).toEqual(harmless.page);
  expect(received.page.filter((line) => / script |^\d+ \S+ .*\bon\w+=|javascript:/.test(line))).toEqual([]);
}

test('keeps recipients, fields and elements of an email for 500 hostile texts in each trait and property, and keeps the words', async () => {
  const scenario = await openScenario();
  expect(await sendUser(scenario, { userId: 'harmless', value: 'Ada' })).toBe(true);
  const acceptedIndexes: number[] = [];
  for (let from = 0; from < payloads.length; from += 25) {
    const batch = payloads.slice(from, from + 25);
    const accepted = await Promise.all(
      batch.map((value, n) => sendUser(scenario, { userId: `p${from + n}`, value })),
    );
    acceptedIndexes.push(...accepted.flatMap((isAccepted, n) => (isAccepted ? [from + n] : [])));
  }
  await scenario.later(2 * HOUR);
  const harmless = await emailsTo(scenario, 'harmless@home.test');
  expect(harmless).toHaveLength(3);
  for (const n of acceptedIndexes) {
    const [address, value] = [`p${n}@home.test`, payloads[n] ?? ''];
    const emails = await emailsTo(scenario, address);
    expect(emails.map(ruleOf), JSON.stringify(value)).toEqual(harmless.map(ruleOf));
    emails.forEach((received, i) => {
      const like = harmless[i];
      if (!like) throw new Error('no harmless email to compare with');
      expectSame(received, like, { address, domain: scenario.domain });
      const words = wordsOf((received.mail.text ?? '').replace(/\s+/g, ' '));
      if (i < 2)
        for (const word of wordsOf(value).slice(0, 5))
          expect(words.join(' '), JSON.stringify(value)).toContain(word);
    });
  }
  expect(acceptedIndexes.length).toBeGreaterThan(payloads.length * 0.8);
  expect(stage.sink.emails.flatMap(({ to }) => to).filter((to) => to.includes('evil'))).toEqual([]);
}, 120_000);

test('loses at most the links of an email for a very long text, and sends no line that a server rejects', async () => {
  const scenario = await openScenario();
  await sendUser(scenario, { userId: 'harmless', value: 'Ada' });
  const long = ['word '.repeat(200), 'x'.repeat(1_000), '<script>'.repeat(200), '😀'.repeat(500)];
  for (const [n, value] of long.entries())
    expect(await sendUser(scenario, { userId: `long${n}`, value })).toBe(true);
  await scenario.later(2 * HOUR);
  const harmless = await emailsTo(scenario, 'harmless@home.test');
  const withoutLinks = (page: string[]): string[] => page.filter((line) => !/^\d+ a /.test(line));
  for (const n of long.keys()) {
    const emails = await emailsTo(scenario, `long${n}@home.test`);
    expect(emails.map(ruleOf)).toEqual(harmless.map(ruleOf));
    for (const [i, received] of emails.entries()) {
      expect(withoutLinks(received.page)).toEqual(withoutLinks(harmless[i]?.page ?? []));
      expect(received.names).toEqual(harmless[i]?.names);
      // RFC 5322: a line has at most 998 characters.
      expect(Math.max(...received.email.raw.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(
        998,
      );
    }
  }
});

const ODD_ADDRESSES = [
  "o'brien@home.test",
  'a+b=c@home.test',
  "!#$%&'*+/=?^_`{|}~-@home.test",
  '{{x}}@home.test',
  '--@home.test',
  'bcc=eve@home.test',
  'UPPER.Case@HOME.test',
  'zoe@bücher.test',
  `${'x'.repeat(64)}@home.test`,
  '=?utf-8?q?x?=@home.test',
];
const NO_ADDRESSES = [
  'a@home.test, eve@evil.test',
  'a@home.test\r\nBcc: eve@evil.test',
  'a@home.test\nRCPT TO:<eve@evil.test>',
  'a@home.test>\r\nDATA',
  'Ada <a@home.test>',
  'a@home.test\u0000',
  'a@home.test\u2028',
  '"a b"@home.test',
  'a@home.test eve@evil.test',
  'a@home.test;eve@evil.test',
  'a@[127.0.0.1]',
  '<a@home.test>',
  'a\u202E@home.test',
  'ä@home.test',
  'a@home.test NOTIFY=NEVER',
  '\uD800@home.test',
];

test('sends to an odd address alone and unchanged, and rejects invalid addresses without sending anything', async () => {
  const scenario = await openScenario();
  for (const [n, email] of ODD_ADDRESSES.entries())
    expect(await sendUser(scenario, { userId: `odd${n}`, value: 'Ada', email }), email).toBe(true);
  for (const [n, email] of NO_ADDRESSES.entries())
    expect(await sendUser(scenario, { userId: `none${n}`, value: 'Ada', email }), JSON.stringify(email)).toBe(
      false,
    );
  await scenario.later(2 * HOUR);
  const to = scenario.arrived().map((email) => email.to);
  expect(to.every((addressees) => addressees.length === 1)).toBe(true);
  // The test mail server shows an international domain in Unicode, in whichever form it arrived.
  const recipients = [...new Set(to.flat())].map(normaliseAddress);
  const expected = ODD_ADDRESSES.map(normaliseAddress);
  expect(recipients.toSorted()).toEqual(expected.toSorted());
  for (const received of await Promise.all(scenario.arrived().map(read)))
    expect(received.mail.to?.map(({ address }) => normaliseAddress(address ?? ''))).toEqual(
      received.email.to.map(normaliseAddress),
    );
});

const NAMES = TRIES.filter((name) => name.length <= 100);
/** Returns true for a name that a single-line setting accepts. */
const isValidName = (name: string): boolean =>
  !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name.trim()) && name.isWellFormed() && name.trim() !== '';

test('keeps recipients, fields and elements of an email for a hostile sender name', async () => {
  const scenario = await openScenario();
  await sendUser(scenario, { userId: 'before', value: 'Ada' });
  await scenario.later(2 * HOUR);
  const harmless = await emailsTo(scenario, 'before@home.test');
  for (const [n, name] of NAMES.entries()) {
    const set = await scenario.set({ from_name: name }).then(
      () => true,
      () => false,
    );
    expect(set, JSON.stringify(name)).toBe(isValidName(name));
    if (!set) continue;
    await sendUser(scenario, { userId: `after${n}`, value: 'Ada' });
    await scenario.later(2 * HOUR);
    const address = `after${n}@home.test`;
    const emails = await emailsTo(scenario, address);
    expect(emails).toHaveLength(3);
    for (const [i, received] of emails.entries()) {
      const like = harmless[i];
      if (!like) throw new Error('no harmless email to compare with');
      expectSame(received, like, { address, domain: scenario.domain });
    }
  }
}, 60_000);
