import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compileEmail } from './compile-email.ts';
import { checkEmail, publishable } from './publish.ts';
import type { TemplateText } from './template.ts';
import { renderEmail } from './render-email.ts';
import { renderContent } from './render.ts';
import { variablesFor } from './variables.ts';

const guide = readFileSync(new URL('../../../../../docs/reference/emails.md', import.meta.url), 'utf8');

const TRAITS = { name: 'Ada', seats: 1200, tags: ['new', 'beta'], site: 'https://ada.example' };

function rendered(email: TemplateText, traits: Record<string, unknown> = TRAITS, locale = 'en') {
  const variables = variablesFor({
    person: { userId: 'user_42', traits: new Map(Object.entries(traits)), email: 'ada@example.com' },
    anchor: { name: 'user_signed_up', properties: { plan: 'pro' }, occurredAt: Date.UTC(2026, 5, 5, 12) },
    endsAt: Date.UTC(2026, 5, 19),
    project: { name: 'Acme' },
    zone: 'UTC',
    locale,
  });
  const { content, missing } = renderContent(email, variables);
  expect(missing).toEqual([]);
  return renderEmail(content, {
    projectName: 'Acme',
    postalAddress: null,
    unsubscribeUrl: 'https://x.example/u',
    locale,
    projectLocale: 'en',
  });
}

function markdown(body: string): TemplateText {
  const email: TemplateText = { subject: 'a', preheader: '', body, format: 'markdown' };
  expect(checkEmail(email)).toEqual([]);
  return email;
}

/** Reads rows with two code cells below their header. A vertical bar within a cell is escaped with a backslash. */
function rowsUnder(head: string): [string, string][] {
  const below = guide.split(`\n| ${head} |`)[1]?.split('\n\n')[0] ?? '';
  return Array.from(below.matchAll(/^\| `(.+?)` \| `?(.+?)`? \|$/gm), ([, written = '', becomes = '']) => [
    written.replaceAll('\\|', '|'),
    becomes.replaceAll('&lt;', '<').replaceAll('&gt;', '>'),
  ]);
}

function block(language: string): string {
  return new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)\n\`\`\`$`, 'm').exec(guide)?.[1] ?? '';
}

const written = rowsUnder('Template | For Ada, who signed up on the pro plan');
const localized = rowsUnder('Written | For a recipient with the locale `de`');
const links = rowsUnder('Link, with the name `Ada <b>&` | Result');
const refused = rowsUnder('MJML | Error');

test('has the expected number of examples', () => {
  expect([written.length, localized.length, links.length, refused.length]).toEqual([13, 6, 3, 5]);
});

test.each(written)('renders %s as %s', (body, becomes) => {
  expect(rendered(markdown(body)).text.split('\n\n---\n')[0]).toBe(becomes);
});

test.each(localized)('renders %s as %s in German', (body, becomes) => {
  expect(rendered(markdown(body), TRAITS, 'de').text.split('\n\n---\n')[0]).toBe(becomes);
});

test.each(links)('renders the link %s as %s', (body, becomes) => {
  expect(rendered(markdown(body), { ...TRAITS, name: 'Ada <b>&' }).links[0]).toBe(becomes);
});

function page(inside: string): string {
  return `<mjml><mj-body><mj-section><mj-column>${inside}</mj-column></mj-section></mj-body></mjml>`;
}

test.each(refused)('rejects %s: %s', async (inside, message) => {
  const compiled = await compileEmail(page(inside));
  expect('flaws' in compiled ? compiled.flaws.join('\n') : '').toContain(message);
});

test('can publish the emails in the guide, and renders them as expected', async () => {
  const [, head = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(block('markdown')) ?? [];
  const subject = /^subject: (.*)$/m.exec(head)?.[1] ?? '';
  const first = await publishable({ format: 'markdown', subject, preheader: '', body });
  const { text, links: led } = rendered({ ...first, format: 'markdown' });
  expect(text).toMatch(/^Hi Ada,\n\nyour account is ready, on the pro plan\./);
  expect(led[0]).toBe('https://app.example.com/user_42/reports/new');
  const second = await publishable({ format: 'mjml', subject: 'a', preheader: '', body: block('xml') });
  expect(rendered({ ...second, body: second.html ?? '', format: 'html' }).links).toEqual([
    'https://app.example.com/user_42/reports',
    'https://x.example/u',
  ]);
});

test('lists every tag and filter in the guide, and no other', async () => {
  for (const [kind, source] of [
    ['Tags', '{% nope %}'],
    ['Filters', '{{ user.x | nope }}'],
  ] as const) {
    const [fault] = checkEmail({ subject: 'a', preheader: '', body: source, format: 'markdown' });
    const there = fault?.message.split('Use one of ')[1]?.split(', ');
    const [, listed = ''] = new RegExp(`^${kind}: ([\\s\\S]*?)\\.\n\n`, 'm').exec(guide) ?? [];
    expect(new Set(Array.from(listed.matchAll(/`([^`]+)`/g), ([, name]) => name))).toEqual(new Set(there));
  }
});
