import { describe, expect, test } from 'vitest';
import { compileEmail } from './compile-email.ts';
import { publishable } from './publish.ts';

function mjml(inside: string, head = ''): string {
  return `<mjml lang="en"><mj-head>${head}</mj-head><mj-body><mj-section><mj-column>\n${inside}\n</mj-column></mj-section></mj-body></mjml>`;
}

async function flawsOf(inside: string, head = ''): Promise<string[]> {
  const compiled = await compileEmail(mjml(inside, head));
  return 'flaws' in compiled ? compiled.flaws : [];
}

async function htmlOf(inside: string, head = ''): Promise<string> {
  const compiled = await compileEmail(mjml(inside, head));
  if ('flaws' in compiled) throw new Error(compiled.flaws.join('\n'));
  return compiled.html;
}

describe('compileEmail', () => {
  test('compiles with its Liquid in place, with any quotes and special characters in it', async () => {
    const html = await htmlOf(
      '<mj-text>Hi {{ user.name | default: "there" }}{% if user.age < 3 and user.x > "a" %}, little one{% endif %} &copy; &amp; &nbsp;</mj-text>' +
        '<mj-image src="https://a.example/i.png" alt="{{ user.name | default: "you" }}" />' +
        '<mj-raw>{%- for tag in user.tags -%}</mj-raw><mj-text>{{ tag }}</mj-text><mj-raw>{%- endfor -%}</mj-raw>' +
        '<mj-text>{% raw %}{{ user.name }}{% endraw %}</mj-text>',
      '<mj-title>For {{ user.name }}</mj-title>',
    );
    expect(html).toContain(
      'Hi {{ user.name | default: "there" }}{% if user.age < 3 and user.x > "a" %}, little one{% endif %} © &amp; &nbsp;',
    );
    expect(html).toContain('alt="{{ user.name | default: "you" }}"');
    expect(html).toMatch(/\{%- for tag in user\.tags -%\}[\s\S]*\{\{ tag \}\}[\s\S]*\{%- endfor -%\}/);
    expect(html).toContain('{% raw %}{{ user.name }}{% endraw %}');
    expect(html).toContain('<title>For {{ user.name }}</title>');
  });

  test('encodes values in a URL, and checks a value that is the whole URL', async () => {
    const html = await htmlOf(
      '<mj-button href="https://app.example/x/{{ user.id }}?q={{ user.q | url_encode }}">Go</mj-button>' +
        '<mj-text><a href="{{ user.site | default: event.site }}/x">x</a> <a href="mailto:{{ user.manager }}">y</a></mj-text>' +
        '<mj-image src="{{ user.avatar }}" alt="" />',
    );
    expect(html).toContain(
      'https://app.example/x/{{ user.id | link_part }}?q={{ user.q | url_encode | link_part: true }}',
    );
    expect(html).toContain('"{{ user.site | default: event.site | link_whole: "user.site", "href" }}/x"');
    expect(html).toContain('"mailto:{{ user.manager | link_part }}"');
    expect(html).toContain('"{{ user.avatar | link_whole: "user.avatar", "src" }}"');
  });

  test('keeps a place for the unsubscribe link, and no preheader of its own', async () => {
    const html = await htmlOf(
      '<mj-text><a href="{{ unsubscribe_url }}">Bye</a></mj-text><mj-button href="{{unsubscribe_url}}">Bye</mj-button>',
      '<mj-preview>Soon {{ user.name }}</mj-preview>',
    );
    expect(html.match(/href="https:\/\/unsubscribe\.invalid\/"/g)).toHaveLength(2);
    expect(html).not.toContain('Soon');
  });

  test.each([
    ['<mj-text><a href={{ user.x }}>x</a></mj-text>', 'line 2: {{ user.x }} is not allowed here'],
    ['\n<mj-text><b {{ user.x }}="1">x</b></mj-text>', 'line 3: {{ user.x }} is not allowed here'],
    ['<mj-text><b class="{{ user.x }}">x</b></mj-text>', 'is not allowed here'],
    ['<mj-text><b style="color: {{ user.x }}">x</b></mj-text>', 'is not allowed here'],
    ['<mj-text><{{ user.x }}>x</mj-text>', 'is not allowed here'],
    ['<mj-text><!-- {{ user.x }} -->x</mj-text>', 'is not allowed here'],
    ['<mj-text><style>{{ user.x }}</style>x</mj-text>', 'is not allowed here'],
    ['<mj-text><b title="{% if user.x %}a{% endif %}">x</b></mj-text>', 'is not allowed here'],
    ['<mj-text><b title=a"{{ user.x }}">x</b></mj-text>', 'is not allowed here'],
    ['<mj-text><a title="a" title={{ user.x }}>x</a></mj-text>', 'is not allowed here'],
    [
      '<mj-table><tr><td>a</td> {{ user.y }} <td title={{ user.x }}>b</td></tr></mj-table>',
      '{{ user.x }} is not allowed',
    ],
    ['<mj-text color="{{ user.x }}">x</mj-text>', 'mj-text: Attribute color has invalid value'],
    [
      '<mj-text><a href="https://a{{ user.x }}/">x</a></mj-text>',
      'a variable in a link must be its whole beginning',
    ],
    ['<mj-text>{{ unsubscribe_url }}</mj-text>', '{{ unsubscribe_url }} must be the complete URL of a link'],
    [
      '<mj-text><a href="{{ unsubscribe_url }}?x">x</a></mj-text>',
      '{{ unsubscribe_url }} must be the complete URL of a link',
    ],
    ['<mj-image src="{{ unsubscribe_url }}" />', '{{ unsubscribe_url }} must be the complete URL of a link'],
    [
      '<mj-text>x</mj-text>{% if user.x %}<mj-text>y</mj-text>{% endif %}',
      'MJML drops, moves or repeats a condition',
    ],
    [
      '<mj-text><a href="javascript:alert(1)">x</a></mj-text>',
      'a link must use http, https or mailto, not "javascript:alert(1)"',
    ],
    ['<mj-text><a href="#top">x</a></mj-text>', 'a link must use http, https or mailto, not "#top"'],
    ['<mj-image src="http://a.example/i.png" />', 'an image must use https, not "http://a.example/i.png"'],
    ['<mj-raw><script>1</script></mj-raw>', '<script> is not allowed in an email'],
    ['<mj-raw><svg><style>a</style></svg></mj-raw>', '<svg> is not allowed in an email'],
    ['<mj-raw><form><input></form></mj-raw>', '<form> is not allowed in an email'],
    ['<mj-raw><meta http-equiv="Refresh" content="0"></mj-raw>', 'an email cannot redirect'],
    ['<mj-text><b onclick="x()">x</b></mj-text>', 'scripts are not allowed: onclick'],
    ['<mj-text><b style="background: URL( http://x )">x</b></mj-text>', 'a style can load images over https'],
    ['<mj-text>&lbrace;&lbrace; user.x }} <b {{ user.x }}>x</b></mj-text>', 'is not allowed here'],
    ['<mj-include path="/etc/passwd" /><mj-text>x</mj-text>', 'mj-include is not allowed'],
    ['<mj-foo>x</mj-foo>', "line 2: mj-foo: Element mj-foo doesn't exist"],
    ['<mj-text>{% if user.x %}</mj-text>', 'tag {% if user.x %} not closed'],
    ['<mj-text>{{ user.x | nope }}</mj-text>', 'filter "nope" does not exist'],
  ])('rejects a source that is unsafe for some values or not an email: %j', async (inside, flaw) => {
    expect((await flawsOf(inside)).join('\n')).toContain(flaw);
  });

  test('never fetches a font or a style', async () => {
    const font = '<mj-font name="Raleway" href="https://fonts.example/raleway" />';
    const flaws = await flawsOf('<mj-text font-family="Raleway">x</mj-text>', font);
    expect(flaws.join('\n')).toContain('and nothing else');
    expect(await htmlOf('<mj-text font-family="Roboto">x</mj-text>')).not.toContain('fonts.googleapis.com');
  });

  test('does not turn other text into Liquid', async () => {
    expect(await htmlOf('<mj-text>&lbrace;&lbrace; user.x }}</mj-text>')).toContain(
      '&lbrace;&lbrace; user.x }}',
    );
  });

  test('rejects an email that is too long, and reports both sizes', async () => {
    const flaws = await flawsOf('<mj-text>x</mj-text>'.repeat(900));
    expect(flaws).toEqual([
      expect.stringMatching(/compiles to \d{3},\d{3} characters of HTML; at most 100,000/) as string,
    ]);
  });
});

describe('publishable', () => {
  const source = {
    format: 'mjml',
    subject: 'Hi',
    preheader: '',
    body: mjml('<mj-text>Hi</mj-text>'),
  } as const;

  test('checks part by part, and names the part with the error', async () => {
    await expect(
      publishable({ ...source, subject: '{{ account.name }}', preheader: 'a\nb' }),
    ).rejects.toMatchObject({
      code: 'validation_failed',
      details: [
        {
          field: 'subject',
          message: expect.stringContaining('subject: line 1, column 4: "account" is unknown') as string,
        },
        { field: 'preheader', message: 'the preheader must be a single line' },
      ],
    });
    await expect(publishable({ ...source, body: '<p>Hi</p>' })).rejects.toMatchObject({
      details: [{ field: 'body', message: expect.stringContaining('body: ') as string }],
    });
    await expect(publishable({ ...source, subject: '{{ unsubscribe_url }}' })).rejects.toThrow('is unknown');
    await expect(
      publishable({ ...source, format: 'markdown', body: '{{ unsubscribe_url }}' }),
    ).rejects.toThrow('is unknown');
  });

  test('compiles nothing for Markdown, and names the place of an incomplete host', async () => {
    const markdown = { ...source, format: 'markdown', body: 'Hi' } as const;
    expect(await publishable(markdown)).toEqual({ ...markdown, html: null });
    await expect(publishable({ ...markdown, body: 'a\n[x](https://{{ user.x }}.example/)' })).rejects.toThrow(
      'line 2, column 13: a variable in a link must be its whole beginning',
    );
  });
});
