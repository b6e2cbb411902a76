import { describe, expect, test } from 'vitest';
import { LANGUAGES } from '../../platform/recipient-texts/languages.ts';
import { compileEmail } from './compile-email.ts';
import type { TemplateText } from './template.ts';
import { personFactsChanged, variablesFor } from './variables.ts';
import { renderEmail } from './render-email.ts';
import { renderContent } from './render.ts';

const BODY =
  '{{ event.occurred_at | date }} / {{ user.seats | number }} / {{ event.occurred_at | date: "%a %-d %b %Y %-I %p" }}';

function variables(locale: string, traits: Record<string, unknown> = { seats: 1234567.891 }) {
  return variablesFor({
    person: { userId: 'u1', traits: new Map(Object.entries(traits)), email: 'ada@example.com' },
    anchor: { name: 'signed_up', properties: {}, occurredAt: Date.UTC(2026, 5, 5, 12, 5) },
    endsAt: null,
    project: { name: 'Acme & <Co>' },
    zone: 'UTC',
    locale,
  });
}

function email(body: string, format: TemplateText['format'] = 'markdown'): TemplateText {
  return { subject: 'Hello', preheader: '', body, format };
}

function emailIn(locale: string, content: TemplateText, projectLocale = 'en') {
  return renderEmail(renderContent(content, variables(locale)).content, {
    projectName: 'Acme & <Co>',
    postalAddress: '1 Main Street',
    footer: 'Acme GmbH',
    unsubscribeUrl: 'https://mail.example/u/1',
    locale,
    projectLocale,
  });
}

/** The date and the number in their default form, and the names of `strftime`, as `Intl` returns them. */
const EXPECTED: Record<string, string> = {
  en: 'Friday, June 5 / 1,234,567.89 / Fri 5 Jun 2026 12 PM',
  de: 'Freitag, 5. Juni / 1.234.567,89 / Fr 5 Juni 2026 12 PM',
  fr: 'vendredi 5 juin / 1\u202F234\u202F567,89 / ven. 5 juin 2026 12 PM',
  es: 'viernes, 5 de junio / 1.234.567,89 / vie 5 jun 2026 12 p. m.',
  nl: 'vrijdag 5 juni / 1.234.567,89 / vr 5 jun 2026 12 p.m.',
  pt: 'sexta-feira, 5 de junho / 1.234.567,89 / sex. 5 jun. 2026 12 PM',
  it: 'venerdì 5 giugno / 1.234.567,89 / ven 5 giu 2026 12 PM',
  ja: '6月5日金曜日 / 1,234,567.89 / 金 5 6月 2026 12 午後',
  ar: 'الجمعة، 5 يونيو / 1,234,567.89 / الجمعة 5 يونيو 2026 12 م',
};

describe('an email', () => {
  test.each(Object.entries(LANGUAGES))(
    'has date, number, footer, lang and dir of the locale %s',
    (locale, texts) => {
      const { html, text } = emailIn(locale, email(BODY));
      expect(text.split('\n\n---\n\n')).toEqual([
        EXPECTED[locale],
        [
          texts.emailReason.replace('{project}', 'Acme & <Co>'),
          'Acme GmbH',
          'Acme & <Co>\n1 Main Street',
          `${texts.emailUnsubscribe} [https://mail.example/u/1]`,
        ].join('\n\n'),
      ]);
      expect(html).toMatch(new RegExp(`^<!doctype html>\n<html lang="${locale}" dir="${texts.dir}" `));
      expect(html).toContain(`<div lang="${locale}" dir="${texts.dir}"`);
    },
  );

  test.each([
    ['en-GB', 'Friday 5 June', '1,234,567.89'],
    ['de-AT', 'Freitag, 5. Juni', '1\u00A0234\u00A0567,89'],
    ['pl', 'piątek, 5 czerwca', '1\u00A0234\u00A0567,89'],
    ['ar-EG', 'الجمعة، ٥ يونيو', '١٬٢٣٤٬٥٦٧٫٨٩'],
    ['fa', 'جمعه ۱۵ خرداد', '۱٬۲۳۴٬۵۶۷٫۸۹'],
  ])('has date and number of the regional or untranslated locale %s', (locale, date, number) => {
    const body = '{{ event.occurred_at | date }}|{{ user.seats | number }}';
    expect(renderContent(email(body), variables(locale)).content.body).toBe(`${date}|${number}`);
  });

  test("has the project's footer, or else an English one, in a language without translations", () => {
    const { html, text } = emailIn('he-IL', email('שלום'));
    expect(html).toContain('<html lang="he-IL" dir="rtl" ');
    expect(html).toContain('<div lang="en" dir="ltr"><p ');
    expect(text).toContain('You are receiving this email because you use');
    expect(emailIn('he-IL', email('שלום'), 'de-AT').html).toContain('<div lang="de" dir="ltr"><p ');
    expect(emailIn('he-IL', email('שלום'), 'pl').html).toContain('<div lang="en" dir="ltr"><p ');
  });

  test('keeps the direction of a body in another script than its locale', () => {
    expect(emailIn('ar', email('Hello')).html).toContain('<div dir="auto" style="text-align:start;"><p');
  });
});

describe('a page in MJML', () => {
  const page = (attributes: string) =>
    compileEmail(
      `<mjml${attributes}><mj-body><mj-section><mj-column><mj-text>Hi, {{ user.seats | number }}</mj-text></mj-column></mj-section></mj-body></mjml>`,
    );

  test.each([
    ['', '<html lang="de-AT" dir="ltr" '],
    [' lang="fr" dir="ltr"', '<html lang="fr" dir="ltr" '],
  ])('with the attributes %j begins with %s, and has a footer of the locale', async (attributes, opening) => {
    const compiled = await page(attributes);
    const { html } = emailIn('de-AT', email('html' in compiled ? compiled.html : '', 'html'));
    expect(html).toContain(opening);
    expect(html).not.toContain('lang="und"');
    expect(html).toContain('<div lang="de" dir="ltr"><p ');
  });
});

describe('the filters `date` and `number`', () => {
  const rendered = (body: string, locale = 'de') => renderContent(email(body), variables(locale));

  test.each([
    ['{{ event.occurred_at | date: locale: "en-GB" }}', 'Friday 5 June'],
    ['{{ event.occurred_at | date: "%-d %B", locale: "fr" }}', '5 juin'],
    ['{{ user.seats | number: locale: "en" }}', '1,234,567.89'],
    ['{{ user.seats | number: locale: "xx" }}', '1.234.567,89'],
    ['{{ user.seats | number: locale: user.unknown }}', '1.234.567,89'],
  ])('%s is %s for a recipient in German', (body, text) => {
    expect(emailIn('de', email(body)).text.split('\n\n---\n')[0]).toBe(text);
  });

  test('use the Gregorian calendar and Latin digits in a `strftime` format', () => {
    expect(rendered('{{ event.occurred_at | date: "%-d %B %Y" }}', 'fa').content.body).toBe('5 ژوئن 2026');
  });

  test('inflect the name of a month beside its day', () => {
    expect(rendered('{{ event.occurred_at | date: "%-d %B" }}', 'pl').content.body).toBe('5 czerwca');
  });

  test('note the locale as a fact, unless the template names one', () => {
    const used = rendered('{{ user.seats | number }}').facts;
    expect(used).toEqual({ 'user.seats': 1234567.891, locale: 'de' });
    expect(personFactsChanged(used, variables('de'))).toEqual([]);
    expect(personFactsChanged(used, variables('de-AT'))).toEqual(['locale']);
    expect(rendered('{{ user.seats | number: locale: "en" }}').facts).not.toHaveProperty('locale');
  });

  test('charge each named locale once, so that an email cannot create formatters without end', () => {
    const many = (locales: string[]) =>
      renderContent(
        email('{% for one in user.locales %}{{ 1200 | number: locale: one }} {% endfor %}'),
        variables('en', { locales }),
      );
    expect(many(Array.from({ length: 200 }, () => 'de')).failed).toBeNull();
    const regions = Intl.supportedValuesOf('currency').map((code) => `en-${code.slice(0, 2)}`);
    expect(many([...new Set(regions)]).failed).toBe('body');
  });
});

describe('work of rendering', () => {
  const dated = email('{{ event.occurred_at | date }}');

  test('counts the formatters of a locale that was not used before', () => {
    const [first, second] = ['sw-KE', 'sw-KE'].map((locale) => renderContent(dated, variables(locale)).work);
    expect((first ?? 0) - (second ?? 0)).toBeGreaterThanOrEqual(4_000);
  });
});
