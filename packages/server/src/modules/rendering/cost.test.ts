import { describe, expect, test } from 'vitest';
import { countWork, growth } from '../../../testing/oracles/count-work.ts';
import { checkEmail } from './publish.ts';
import { checkPage } from './check-page.ts';
import { compileEmail } from './compile-email.ts';
import { inlineStylesFlaw } from './compile-mjml.ts';
import { findShippedEmail, shippedEmailNames } from './shipped.ts';
import { linksOfMarkdown } from './links.ts';
import { renderContent } from './render.ts';
import { plainText } from './plain-text.ts';
import { WORK_MAX } from './render-work.ts';
import type { EmailVariables } from './variables.ts';

const LONG = 'x'.repeat(60_000);
const LIST = Array.from({ length: 5_000 }, (_, at) => `item ${at}`);
const VARIABLES: EmailVariables = {
  person: { name: 'Ada', list: LIST, long: LONG },
  event: { name: 'limit_reached', plan: 'pro', meter: 'api_calls', usagePercent: 85, limit: 10_000 },
  project: { name: 'Acme' },
  run: { ends_at: '2026-06-04T00:00:00Z' },
  zone: 'UTC',
  locale: 'en',
};

function rendered(body: string): ReturnType<typeof renderContent> {
  return renderContent({ subject: 'Hello', preheader: '', body, format: 'markdown' }, VARIABLES);
}

function many(count: number, text: string, between = ' or '): string {
  return Array.from({ length: count }, () => text).join(between);
}

const twentyThousand = `"${'x'.repeat(20_000)}" | split: ""`;
const EXPENSIVE: Record<string, string> = {
  'lists that are compared': `{% assign a = ${twentyThousand} %}{% assign b = ${twentyThousand} %}{% for i in (1..100) %}{% if ${many(15, 'a!=b')} %}{% endif %}{% endfor %}`,
  'lists that are compared by case': `{% assign a = user.list %}{% for i in (1..1000) %}{% case a %}{% when ${many(100, 'a', ', ')} %}{% endcase %}{% endfor %}`,
  'a list that is looked through': `{% for i in (1..1000) %}{% if user.list contains "none" %}{% endif %}{% endfor %}`,
  'a text that is looked through': `{% assign a = "${'a'.repeat(40_000)}" %}{% assign b = "b${'a'.repeat(20_000)}" %}{% for i in (1..100) %}{% if a contains b %}{% endif %}{% endfor %}`,
  'a list that is sorted': '{% for i in (1..100) %}{% assign a = user.list | sort %}{% endfor %}',
  'a text that is replaced in':
    '{% for i in (1..1000) %}{% assign a = user.long | replace: "x", "xy" %}{% endfor %}',
  'conditions of many numbers': `{% for i in (1..2000) %}{% if ${many(5_000, '1==1')} %}{% endif %}{% endfor %}`,
  'many filters': `{% for i in (1..2000) %}{% assign a = "" ${'| strip'.repeat(10_000)} %}{% endfor %}`,
  'nested loops without a body': '{% for a in (1..500) %}{% for b in (1..500) %}{% endfor %}{% endfor %}',
};

describe('renderContent', () => {
  test.each(Object.entries(EXPENSIVE))('stops %s at its budget, and names the part', (_, body) => {
    const { failed, work, missing } = rendered(body);
    expect(failed).toBe('body');
    expect(missing).toContain(
      'body: Rendering this email takes too much work. Simplify loops, comparisons or nested blocks.',
    );
    // Includes the work of parsing the sources.
    expect(work).toBeLessThanOrEqual(WORK_MAX + body.length / 2 + 100);
  });

  test('has one budget for all parts of an email', () => {
    const half = '{% for i in (1..9000) %}{% assign a = 1 %}{% endfor %}';
    const parts = { subject: half, preheader: half, body: 'Hello', format: 'markdown' } as const;
    expect(renderContent({ ...parts, preheader: '' }, VARIABLES).failed).toBeNull();
    expect(renderContent(parts, VARIABLES).failed).toBe('preheader');
  });

  test.each(shippedEmailNames())('renders the shipped email %s within a hundredth of its budget', (name) => {
    const source = findShippedEmail(name) ?? { subject: '', preheader: '', body: '', format: 'markdown' };
    // The first render of a locale also creates its formatters.
    renderContent(source, VARIABLES);
    const { work, failed } = renderContent(source, VARIABLES);
    expect(failed).toBeNull();
    expect(work).toBeGreaterThan(0);
    expect(work).toBeLessThan(WORK_MAX / 100);
  });

  test('renders a table of 300 rows with 4 columns within its budget', () => {
    const { failed, missing } = rendered(
      '{% for row in (1..300) %}| {{ row }} | {{ row | times: 2 }} | {{ user.name }} | {{ user.name | upcase }} |\n{% endfor %}',
    );
    expect(failed).toBeNull();
    expect(missing).toEqual([]);
  });
});

const SIZES = [500, 1_000, 2_000, 4_000];
const LINEAR = 1.3;

const PAGES: Record<string, (n: number) => string> = {
  'quotes and rules': (n) => '<blockquote>'.repeat(n) + '<hr>'.repeat(3 * n),
  'nested lists': (n) => '<ul><li>'.repeat(n) + 'x<br>'.repeat(n),
  'quotes that open and close': (n) => '<blockquote>x</blockquote>'.repeat(n),
  'links in links': (n) => '<a href="https://example.com/">'.repeat(n) + 'x</a>'.repeat(n),
  links: (n) => '<a href="https://example.com/">x</a> y '.repeat(n),
  cells: (n) => `<table>${'<tr><td>a</td><td>b</td></tr>'.repeat(n)}</table>`,
  'cells without words': (n) => '<td></td> '.repeat(n),
  'preformatted lines': (n) => `<pre>${'a | \n'.repeat(n)}</pre>`,
};

describe('plainText', () => {
  test.each(Object.entries(PAGES))('takes work that grows with the length of %s', (_, page) => {
    expect(growth(SIZES, (n) => countWork(() => plainText(page(n))))).toBeLessThan(LINEAR);
  });

  test('writes a text about as long as the page, regardless of the depth of its quotes', () => {
    const page = '<blockquote>'.repeat(3_900) + '<hr>'.repeat(11_500);
    expect(plainText(page).text.length).toBeLessThan(page.length * 5);
  });

  test('indents quotes by 5 levels at most', () => {
    const page = (depth: number): string =>
      `${'<blockquote>'.repeat(depth)}<p>deep</p>${'</blockquote>'.repeat(depth)}<p>after</p>`;
    expect(plainText(page(2)).text).toBe('> > deep\n\nafter');
    expect(plainText(page(9)).text).toBe('> > > > > deep\n\nafter');
  });
});

const SIGN = /sign(\d+)x/g;
const CHECKED: Record<string, (n: number) => string> = {
  'texts without a variable': (n) => '<p>x</p>'.repeat(n),
  'attributes without a variable': (n) => '<p title="x"></p>'.repeat(n),
  'addresses that are refused': (n) => Array.from({ length: n }, (_, at) => `<a href="x:${at}">`).join(''),
  'one variable behind many texts': (n) => `${'<p>x</p>'.repeat(n)}sign0x`,
  'variables in one address': (n) => `<a href="${'sign0x'.repeat(n)}">x</a>`,
};

describe('checkPage', () => {
  test.each(Object.entries(CHECKED))('takes work that grows with the number of %s', (_, page) => {
    const tags = [{ text: '{{ user.name }}', kind: 'output', line: 1 }] as const;
    expect(growth(SIZES, (n) => countWork(() => checkPage(page(n), tags, SIGN)))).toBeLessThan(LINEAR);
  });
});

describe('linksOfMarkdown', () => {
  test('finds the text of each link without reading the others', () => {
    const body = (n: number): string =>
      Array.from({ length: n }, (_, at) => `[word ${at}](https://example.com/${at})`).join(' ');
    let visited = 0;
    const { findIndex } = Array.prototype;
    Object.assign(Array.prototype, {
      findIndex(this: unknown[], ...args: Parameters<typeof findIndex>): number {
        visited += this.length;
        return findIndex.apply(this, args);
      },
    });
    try {
      expect(linksOfMarkdown(body(500))?.at(-1)).toEqual({
        address: 'https://example.com/499',
        words: 'word 499',
      });
    } finally {
      Object.assign(Array.prototype, { findIndex });
    }
    expect(visited).toBeLessThan(10_000);
  });
});

describe('compileEmail', () => {
  const mjml = (body: string, head = ''): string => `<mjml>${head}<mj-body>${body}</mj-body></mjml>`;

  test('refuses a page by its size before it is checked', async () => {
    const compiled = await compileEmail(mjml('<mj-section/>'.repeat(200)));
    expect(compiled).toEqual({
      flaws: [expect.stringMatching(/^it compiles to [\d,]+ characters of HTML; at most 100,000/)],
    });
  });

  test('refuses more sections than any page can hold, without compiling them', async () => {
    const sections = '<mj-wrapper><MJ-section/></mj-wrapper>'.repeat(101);
    expect(await compileEmail(mjml(sections))).toEqual({
      flaws: [expect.stringContaining('202 sections and wrappers; at most 200')],
    });
    expect(await compileEmail(mjml('<mj-section/>'.repeat(100)))).toHaveProperty('html');
  });

  test('refuses MJML nested so deeply that the compiler would exceed its stack', async () => {
    const nested = `${'</mj-style></mj-head><mj-body><mj-raw>'.repeat(1_000)}`;
    expect(await compileEmail(mjml(nested))).toEqual({
      flaws: ['MJML elements may be nested at most 32 levels deep'],
    });
    const beside = '<mj-section><mj-column><mj-text>a<br>b</mj-text></mj-column></mj-section>'.repeat(40);
    expect(await compileEmail(mjml(beside))).toHaveProperty('html');
  });

  test('refuses inline styles beyond a product of selectors and elements', async () => {
    const head = (rules: number): string =>
      `<mj-head><mj-style inline="inline">${'a{b:c}'.repeat(rules)}</mj-style></mj-head>`;
    const raw = (count: number): string => `<mj-raw>${'<a/>'.repeat(count)}</mj-raw>`;
    const compiled = await compileEmail(mjml(raw(3_500), head(2_300)));
    expect(compiled).toEqual({ flaws: [expect.stringContaining('2300 selectors for 3510 elements')] });
    expect(await compileEmail(mjml(raw(100), head(100)))).toHaveProperty('html');
  });

  test('counts the selectors of mj-html-attributes, and of several style blocks', () => {
    const selector = '<mj-selector path=".a"></mj-selector>';
    expect(inlineStylesFlaw(selector.repeat(500) + '<p>'.repeat(500))).not.toBeNull();
    const style = `<mj-style inline="inline">${'a,b{c:d}'.repeat(50)}</mj-style>`;
    expect(inlineStylesFlaw(style.repeat(4) + '<p>'.repeat(600))).not.toBeNull();
    expect(inlineStylesFlaw(style.replace(' inline="inline"', '').repeat(4) + '<p>'.repeat(600))).toBeNull();
  });
});

describe('checkEmail', () => {
  const email = (count: number): Parameters<typeof checkEmail>[0] => ({
    subject: 's',
    preheader: '',
    body: 'a\n{{ user.name }} {{ nothing.here }}\n'.repeat(count),
    format: 'markdown',
  });

  test('names the line and the column of an unknown variable', () => {
    const [first, second] = checkEmail(email(2));
    expect(first?.message).toMatch(/^line 2, column 20: "nothing" is unknown/);
    expect(second?.message).toMatch(/^line 4, column 20:/);
  });
});
