import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TemplateText } from './template.ts';
import { personFactsChanged, variablesFor, type VariableSources } from './variables.ts';
import { renderContent } from './render.ts';
import { oneLine } from './print-values.ts';

type VariablesInput = { traits?: Record<string, unknown>; zone?: string; locale?: string } & Partial<
  VariableSources['anchor']
>;

function variables({ traits = {}, zone = 'Europe/Paris', locale = 'en', ...anchor }: VariablesInput = {}) {
  return variablesFor({
    person: { userId: 'u1', traits: new Map(Object.entries(traits)), email: 'ada@example.com' },
    anchor: { name: 'user_signed_up', properties: {}, occurredAt: Date.UTC(2026, 5, 4, 22, 30), ...anchor },
    endsAt: null,
    project: { name: 'Acme' },
    zone,
    locale,
  });
}

function email(parts: Partial<TemplateText>): TemplateText {
  return { subject: 'Hello', preheader: '', body: 'Hello', format: 'markdown', ...parts };
}

function bodyOf(body: string, traits: Record<string, unknown> = {}): string {
  return renderContent(email({ body }), variables({ traits })).content.body;
}

describe('renderContent', () => {
  test('fills in values of users and events', () => {
    const source = email({
      subject: 'For {{ user.name }} & co.',
      preheader: '{{ event.plan }} at {{ project.name }}',
      body: '{{ user.external_user_id }}, {{ user.email }}, {{ event.name }}, {{ user.address.city }}',
    });
    const traits = { name: 'Ada', address: { city: 'Turin' } };
    const rendered = renderContent(source, variables({ traits, properties: { plan: 'pro' } }));
    expect(rendered.content).toEqual({
      subject: 'For Ada & co.',
      preheader: 'pro at Acme',
      body: 'u1, ada\\@example.com, user_signed_up, Turin',
      format: 'markdown',
    });
    expect(rendered.missing).toEqual([]);
  });

  test('records each fact that was actually read, with its stored value, and no others', () => {
    const body =
      '{% if user.vip %}{{ user.manager }}{% endif %}{{ user.name | upcase }} {{ event.trialDays }}';
    const traits = { name: 'Ada', manager: 'Bob', address: { city: 'Turin' } };
    const values = variables({ traits, properties: { trialDays: 14 } });
    expect(renderContent(email({ body }), values).facts).toEqual({
      'user.vip': null,
      'user.name': 'Ada',
      'event.trialDays': 14,
    });
    expect(renderContent(email({ body: '{{ user.address.city }}' }), values).facts).toEqual({
      'user.address': { city: 'Turin' },
    });
  });

  test('reports only facts about the user that have changed', () => {
    const body =
      '{{ user.name }} {{ user.tags }} {{ user.plan | default: "free" }} {{ event.plan }} {{ event.occurred_at | date }}';
    const then = variables({ traits: { name: 'Ada', tags: { a: 1, b: 2 } }, properties: { plan: 'pro' } });
    const { facts } = renderContent(email({ body }), then);
    const same = variables({ traits: { tags: { b: 2, a: 1 }, name: 'Ada', age: 36 } });
    expect(personFactsChanged(facts, same)).toEqual([]);
    const other = variables({ traits: { name: 'Ada L.', plan: 'pro' }, zone: 'Asia/Tokyo' });
    expect(personFactsChanged(facts, other)).toEqual(['user.name', 'user.tags', 'user.plan', 'zone']);
  });
});

describe('a missing value', () => {
  test.each([
    ['{{ user.name }}', ['user.name']],
    ['{{ user.name | upcase }}', ['user.name']],
    ['{{ user.blank }}', ['user.blank']],
    ['{{ user.address.city }}', ['user.address.city']],
    [
      '{% assign who = user.name | strip %}{% for item in user.items %}{% endfor %}',
      ['user.name', 'user.items'],
    ],
    ['{{ user.name | default: user.nick }}', ['user.name', 'user.nick']],
    ['{{ persn.name }}', ['persn.name']],
    ['{{ user.name }} {{ user.name }}', ['user.name']],
  ])('is reported by name: %s', (body, missing) => {
    const rendered = renderContent(
      email({ body: `. ${body}` }),
      variables({ traits: { blank: ' \u200B\t' } }),
    );
    expect(rendered.missing).toEqual(missing);
  });

  test.each([
    '{{ user.name | default: "there" }}',
    '{{ user.name | upcase | default: "there" }}',
    '{{ user.renewed_at | date | default: "there" }}',
    '{{ user.name | default: user.nick | default: "there" }}',
    '{{ user.blank | default: "there" }}',
    '{{ user.object | default: "there" }}',
    '{% if user.name %}{{ user.name }}{% elsif user.blank %}{% else %}there{% endif %}',
    '{% unless user.name == "x" %}there{% endunless %}',
    '{% case user.name %}{% when "x" %}{% else %}there{% endcase %}',
    '{% assign who = user.name | default: "there" %}{{ who }}',
    'there{{ user.name | default: "" }}',
  ])('is not reported if the email handles it: %s', (body) => {
    const rendered = renderContent(email({ body }), variables({ traits: { blank: ' ', object: { a: 1 } } }));
    expect(rendered).toMatchObject({ content: { body: 'there' }, missing: [] });
  });

  test.each([
    ['{% for a in (1..500) %}{% for b in (1..500) %}{% endfor %}{% endfor %}', 'too much work'],
    ['{% for a in (1..100000000) %}{% endfor %}', 'too much work'],
    [`{% for a in (1..9000) %}${'x'.repeat(100)}{% endfor %}`, 'longer than 100,000 characters'],
    [`{% for a in (1..9000) %}${'€'.repeat(10)}{% endfor %}`, 'longer than 100,000 bytes'],
    ['{% if user.name %}'.repeat(600) + '{% endif %}'.repeat(600), 'more than 500 places'],
    ['{% include "/etc/passwd" %}', 'tag "include" does not exist'],
    ['{{ user.name | raw }}', 'filter "raw" does not exist'],
  ])('includes a part that cannot be rendered completely: %.60s', (body, why) => {
    const rendered = renderContent(email({ body }), variables());
    expect(rendered.missing.join('\n')).toContain(`body: `);
    expect(rendered.missing.join('\n')).toContain(why);
    expect(Buffer.byteLength(rendered.content.body)).toBeLessThanOrEqual(100_000);
  });
});

describe('a date', () => {
  test.each([
    ['{{ event.occurred_at | date }}', 'Friday, June 5'],
    ['{{ event.occurred_at | date: "%-d %B %Y, %H:%M" }}', '5 June 2026, 00:30'],
    ['{{ event.occurred_at | date: "%a %d %b %y %-I.%M %p %% %q" }}', 'Fri 05 Jun 26 12.30 AM % %q'],
    ['{{ user.day | date }}', 'Friday, June 5'],
    ['{{ user.seconds | date }}', 'Friday, June 5'],
    ['{{ user.ms | date }}', 'Friday, June 5'],
    ['{{ user.words | date }}', 'next spring'],
    ['{{ user.huge | date }}', '1e+300'],
  ])("is formatted in the user's time zone: %s", (body, text) => {
    const seconds = Date.UTC(2026, 5, 4, 23) / 1_000;
    const traits = { day: '2026-06-05', seconds, ms: seconds * 1_000, words: 'next spring', huge: 1e300 };
    expect(bodyOf(body, traits)).toBe(text);
  });

  test('is the same day in every zone if it has no time', () => {
    for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      const values = variables({ traits: { day: '2026-06-05' }, zone });
      expect(renderContent(email({ body: '{{ user.day | date }}' }), values).content.body).toBe(
        'Friday, June 5',
      );
    }
  });
});

describe('an untrusted value', () => {
  test.each([
    ['[click](http://evil.example)', '\\[click\\](http\\://evil.example)'],
    ['<b onclick="x">&', '&lt;b onclick=&quot;x&quot;&gt;&amp;'],
    ['# Title', '\\# Title'],
    ['===', '\\==='],
    ['1986. A year', '1986\\. A year'],
    ['line\n\n    code', 'line code'],
    [
      'www.evil.example, _www.evil.example, a@b.example',
      'www\\.evil.example, \\_www\\.evil.example, a\\@b.example',
    ],
    ['pro_monthly _now_', 'pro_monthly \\_now\\_'],
    ["Anne-Marie O'Neil (CTO), Yahoo!", "Anne-Marie O'Neil (CTO), Yahoo\\!"],
    ['{{ user.secret }}', '{{ user.secret }}'],
    ['\u202Egnp.exe', 'gnp.exe'],
  ])('stays words in the body: %j', (value, text) => {
    expect(bodyOf('{{ user.x }}', { x: value })).toBe(text);
  });

  test('stays one line of plain text in the subject', () => {
    const traits = { x: 'A*\r\nBcc: eve@evil.example\u2028\u0000' };
    const { content } = renderContent(email({ subject: 'Hi {{ user.x }}\n!' }), variables({ traits }));
    expect(content.subject).toBe('Hi A* Bcc: eve@evil.example !');
  });

  test('has a readable form if it is not text, or is left out', () => {
    const traits = { list: ['a', 2, { b: 1 }, ['c']], object: { a: 1 }, number: 12345.678, yes: true };
    expect(
      bodyOf('{{ user.list }}|{{ user.object }}|{{ user.number | number }}|{{ user.yes }}', traits),
    ).toBe('a, 2, c||12,345.68|true');
    expect(bodyOf('x{{ user.object | upcase }}{{ user }}', traits)).toBe('x');
  });

  test('can have the name of an inherited property', () => {
    const named: Record<string, unknown> = JSON.parse(
      '{"__proto__": "p", "constructor": "c", "toString": {"x": "t"}}',
    );
    const body = '{{ user.__proto__ }} {{ user.constructor }} {{ user.toString.x }} {{ user.valueOf }}';
    const rendered = renderContent(email({ body }), variables({ traits: named, properties: named }));
    expect(rendered.content.body).toBe('p c t');
    expect(rendered.missing).toEqual(['user.valueOf']);
    expect(personFactsChanged(rendered.facts, variables({ traits: named }))).toEqual([]);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
    const inherited =
      '. {{ constructor }} {{ user.name.constructor.constructor }} {{ __proto__.x }} {{ project.constructor }}';
    expect(
      renderContent(email({ body: inherited }), variables({ traits: { name: 'Ada' } })).content.body,
    ).toBe('.');
  });
});

const SIGNS = '< > & " [ ] ( ) ! \\ ` * _ ~ | # - + = : / . a 1 www http @ {{ }} {% %} 😀'.split(' ');
const GAPS = [' ', '\n', '\r', '\t', '\u2028', '\u0000', '\uD800'];
/** Characters that are special in Markdown and HTML, and any other characters. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...SIGNS, ...GAPS) }),
);

test('adds no line to the subject and no link, HTML or block to the body, and never throws, for any trait', () => {
  const source = email({
    subject: '{{ user.x }}, {{ user.y | default: "there" }}',
    preheader: '{{ user.x | truncate: 7 }}',
    body: '{{ user.x }}',
  });
  fc.assert(
    fc.property(hostile, fc.jsonValue(), (x, y) => {
      const { content } = renderContent(source, variables({ traits: { x, y } }));
      expect(content.subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      expect(content.subject.length).toBeLessThanOrEqual(200);
      expect(content.preheader).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      expectWords(content.body, x);
    }),
    { numRuns: 2_000 },
  );
});

test('keeps two adjacent values as plain words', () => {
  const source = email({ body: '{{ user.x }}{{ user.y }}' });
  fc.assert(
    fc.property(hostile, hostile, (x, y) => {
      expectWords(renderContent(source, variables({ traits: { x, y } })).content.body, x, y);
    }),
    { numRuns: 2_000 },
  );
});

test("never completes a link or image of the email's own brackets with an adjacent value", () => {
  const traits = { a: 'Acme', link: '(http://evil.example)', note: ': http://evil.example', loud: 'Hey!' };
  expect(bodyOf('[{{ user.a }}]{{ user.link }}', traits)).toBe('[Acme]\\(http\\://evil.example)');
  expect(bodyOf('[{{ user.a }}]{{ user.note }}', traits)).toBe('[Acme]\\: http\\://evil.example');
  expect(bodyOf('{{ user.loud }}[ours](x)', traits)).toBe('Hey\\![ours](x)');
});

/** Checks that every special character is escaped, and that the text without escapes is exactly the given value. */
function expectWords(body: string, ...values: string[]): void {
  const bare = body.replace(/\\[!-/:-@[-`{-~]|&(?:amp|lt|gt|quot);/g, '\uFFFC');
  expect(bare).not.toMatch(/[<>"&`*[\]~|\\@\n]|:\/\/|www\.|^ ?(?:[-+=#:]|\d+[.)])/i);
  expect(bare).not.toMatch(/(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/);
  const words = body
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/&(amp|lt|gt|quot);/g, (_, name: string) => SIGN_OF[name] ?? '');
  const printed = values.map((value) =>
    /[^\s\p{Cc}\u200C\u200D]/u.test(oneLine(value)) ? oneLine(value) : '',
  );
  expect(words).toBe(printed.join('').trim());
}

const SIGN_OF: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };
