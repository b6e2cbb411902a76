import { type GrowthSubject, LIQUID_SHAPES, MARKDOWN_SHAPES, NATIVE } from './grown-shapes.ts';

const EMAIL = { subject: 'Cost', preheader: '', format: 'markdown' as const };
const FRAME = {
  projectName: 'Acme',
  postalAddress: null,
  unsubscribeUrl: null,
  locale: 'en',
  projectLocale: 'en',
};
const VARIABLES = {
  person: { name: 'Ada', plan: 'pro' },
  event: { name: 'x', occurred_at: '2026-01-15T10:00:00Z' },
  project: { name: 'Acme' },
  run: { ends_at: null },
  zone: 'UTC',
  locale: 'en',
};
const LIST = '"aaaaaaaaaaaaaaaaaaaa" | split: ""';

function lines(prefix: string): (text: string) => string {
  return (text) => `${prefix}\n\n${text}`;
}

export const GROWTH_SUBJECTS: GrowthSubject[] = [
  NATIVE,
  {
    name: 'JSON bodies',
    charsMax: 10_000_000,
    pieces: ['1,', '"a",', '[],', '{},', '"k":1,', '"\\u0041",', '9', ' '],
    nests: [
      ['[', ']'],
      ['{"a":', '}'],
    ],
    frame: (text) => `{"users":[{"external_user_id":"u","traits":{"list":[${text}1]}}]}`,
    async load() {
      const { checkJson, MANY_JSON } =
        await import('../../../packages/server/src/platform/http/check-json.ts');
      const { readBulk } = await import('../../../packages/server/src/modules/ingest/api/envelope.ts');
      const { runSteps } = await import('../../../packages/server/src/platform/time/steps.ts');
      const { readUser } = await import('../../../packages/server/src/platform/records/record.ts');
      return (input) => {
        checkJson(Buffer.from(input), MANY_JSON);
        const options = { now: 0, checkStrings: true, field: 'users' } as const;
        return runSteps(readBulk(JSON.parse(input), readUser, options));
      };
    },
  },
  {
    name: 'emails in Markdown',
    charsMax: 100_000,
    pieces: [
      'a ',
      '*a*',
      '**',
      '_a',
      '`',
      '[a](b) ',
      '[a]',
      '![',
      '<a>',
      '&amp;',
      '\n',
      '\n\n',
      '- a\n',
      '> a\n',
      '| a ',
      '|-\n',
      '# a\n',
      '---\n',
      '~~',
      '\\',
      'https://a.b ',
      '[a]: b\n',
      '1. a\n',
      '```\n',
      '    a\n',
    ],
    shapes: MARKDOWN_SHAPES,
    nests: [
      ['> ', ''],
      ['- ', ''],
      ['[', '](b)'],
      ['*', '*'],
      ['(', ')'],
    ],
    frame: (text) => text,
    async load() {
      const { renderEmail } = await import('../../../packages/server/src/modules/rendering/render-email.ts');
      return (body) => renderEmail({ ...EMAIL, body }, FRAME);
    },
  },
  {
    name: 'emails in HTML, and their plain text',
    charsMax: 100_000,
    pieces: [
      'a ',
      '<br>',
      '<hr>',
      '<p>a</p>',
      '<td>a</td>',
      '<img alt="a">',
      '&amp;',
      '<!-- -->',
      '<a href="https://a.b">a</a>',
      '<li>a',
      '<',
      '"',
      '<a b="',
      '<style>',
      '</p>',
      '<pre>\n',
    ],
    nests: [
      ['<blockquote>', '</blockquote>'],
      ['<ul><li>', '</li></ul>'],
      ['<div>', '</div>'],
      ['<table><tr><td>', '</td></tr></table>'],
      ['<a href="https://a.b">', '</a>'],
      ['<pre>', '</pre>'],
      ['<b>', '</b>'],
    ],
    frame: (text) => `<html><body>${text}</body></html>`,
    async load() {
      const { renderEmail } = await import('../../../packages/server/src/modules/rendering/render-email.ts');
      return (body) => renderEmail({ ...EMAIL, format: 'html', body }, FRAME);
    },
  },
  {
    name: 'emails in MJML',
    charsMax: 100_000,
    pieces: [
      '<mj-section></mj-section>',
      '<mj-section><mj-column><mj-text>{{ user.name }}</mj-text></mj-column></mj-section>',
      '<mj-raw><a href="https://a.b/{{ user.name }}">a</a></mj-raw>',
      '<mj-raw><hr></mj-raw>',
      '<mj-spacer />',
      'a ',
      '&amp;',
    ],
    nests: [
      ['<mj-raw><blockquote>', '</blockquote></mj-raw>'],
      ['<mj-wrapper>', '</mj-wrapper>'],
    ],
    frame: (text) => `<mjml><mj-body>${text}</mj-body></mjml>`,
    async load() {
      // Compiles once, so that loading the compiler is not counted.
      const { publishable } = await import('../../../packages/server/src/modules/rendering/publish.ts');
      await publishable({ ...EMAIL, format: 'mjml', body: '<mjml><mj-body></mj-body></mjml>' });
      return (body) => publishable({ ...EMAIL, format: 'mjml', body });
    },
  },
  {
    name: 'styles of MJML that are inlined',
    charsMax: 100_000,
    pieces: ['a{b:c}', '.x{b:c}', 'a a{b:c}', '*{b:c}', '</mj-style></mj-head><mj-body><mj-raw><a/>'],
    nests: [],
    frame: (text) =>
      `<mjml><mj-head><mj-style inline="inline">${text}</mj-style></mj-head><mj-body><mj-raw>${'<a/>'.repeat(
        Math.min(10_000, text.length / 6),
      )}</mj-raw></mj-body></mjml>`,
    async load() {
      const { publishable } = await import('../../../packages/server/src/modules/rendering/publish.ts');
      await publishable({ ...EMAIL, format: 'mjml', body: '<mjml><mj-body></mj-body></mjml>' });
      return (body) => publishable({ ...EMAIL, format: 'mjml', body });
    },
  },
  {
    name: 'Liquid',
    charsMax: 100_000,
    pieces: [
      '{{ user.name }}',
      '{{ a | join: "," }}',
      '{% if a == b %}{% endif %}',
      '{% if a contains "x" %}{% endif %}',
      '{{ a | sort | uniq | reverse }}',
      '{% assign c = c | append: "aaaa" %}',
      '{{ user.name | replace: "A", "aaaa" }}',
      '{{ event.occurred_at | date: "%A %B", locale: "fr" }}',
      '{% comment %}{% endcomment %}',
      'a ',
    ],
    shapes: LIQUID_SHAPES,
    nests: [
      ['{% for i in (1..2) %}', '{% endfor %}'],
      ['{% if user.name %}', '{% endif %}'],
    ],
    frame: lines(`{% assign a = ${LIST} %}{% assign b = ${LIST} %}{% assign c = "a" %}`),
    async load() {
      const { renderContent } = await import('../../../packages/server/src/modules/rendering/render.ts');
      return (body) => renderContent({ ...EMAIL, body }, VARIABLES);
    },
  },
  {
    name: 'emails that come in',
    charsMax: 10_000_000,
    pieces: [
      'x\r\n',
      'X-Y: z\r\n',
      '--b\r\n\r\nx\r\n',
      '--b\r\nContent-Type: text/html\r\n\r\n<b>x\r\n',
      '> x\r\n',
      'On x wrote:\r\n',
      '\r\n',
      '=?utf-8?q?a?= ',
      '=3D',
      ' folded\r\n',
      'Final-Recipient: rfc822; a@b.test\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n',
      '550 5.1.1 User unknown\r\n',
    ],
    nests: [
      ['> ', ''],
      ['--b\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n', '--b--\r\n'],
      ['--b\r\nContent-Type: message/rfc822\r\n\r\n', ''],
    ],
    frame: (text) =>
      `From: a@b.test\r\nTo: c@d.test\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n\r\n${text}\r\n--b--\r\n`,
    async load() {
      const { readHere } = await import('../../../packages/server/src/modules/inbound/mail/reader.ts');
      return (raw) => readHere({ raw: Buffer.from(raw), envelope: { to: [], from: '' } });
    },
  },
  {
    name: 'refusals of mail servers',
    charsMax: 16_000,
    pieces: [
      '550 5.1.1 User unknown ',
      'user ',
      'unknown ',
      'http://a.b/c ',
      '<a@b.test> ',
      '5.7.1 ',
      ': ',
      'not ',
    ],
    nests: [
      ['(', ')'],
      ['<', '>'],
    ],
    frame: (text) => `550 ${text}`,
    async load() {
      const { classifyReply } =
        await import('../../../packages/server/src/modules/outcomes/bounces/classify-reply.ts');
      return (reply) => classifyReply({ stage: 'rcpt', code: 550, reply });
    },
  },
  {
    name: 'filters of lists',
    charsMax: 4_000,
    pieces: ['a ', '-name:x ', '"a" ', 'a:b ', '"', ':', '*'],
    nests: [['(', ')']],
    frame: (text) => text,
    async load() {
      const { readStreamFilter } =
        await import('../../../packages/server/src/modules/ingest/activity/stream.ts');
      return (filter) => readStreamFilter(filter);
    },
  },
  {
    name: 'definitions of audiences',
    charsMax: 100_000,
    pieces: [
      '{"trait":"a","equals":1},',
      '{"event":"a","within":"7d"},',
      '{"event":"a","at_least":2,"where":[{"property":"b","equals":1}]},',
    ],
    nests: [
      ['{"all":[', '{"trait":"a","equals":1}]},'],
      ['{"not":', '{"trait":"a","equals":1}},'],
    ],
    frame: (text) => `{"any":[${text}{"trait":"b","equals":2}]}`,
    async load() {
      const { parsePredicate } = await import('../../../packages/server/src/platform/predicate/parse.ts');
      return (definition) => parsePredicate(JSON.parse(definition));
    },
  },
];
