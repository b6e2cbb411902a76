import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type HitFacts, type HitSign, classifyHit, classifyHits, signsOf } from './hits.ts';

const SENT = 1_000_000;
const S = 1_000;
const HOUR = 3_600 * S;

const hit = (more: Partial<HitFacts> = {}): HitFacts => ({
  kind: 'open',
  link: null,
  at: SENT + HOUR,
  signs: [],
  agent: 'A browser',
  remote: '192.0.2.1',
  ...more,
});
const click = (link: number, more: Partial<HitFacts> = {}): HitFacts => hit({ kind: 'click', link, ...more });
const trap = (more: Partial<HitFacts> = {}): HitFacts => hit({ kind: 'trap', ...more });
const judge = (hits: HitFacts[], sentAt: number | null = SENT): string[] =>
  classifyHits(hits, sentAt).map(({ bot, reason }) => `${bot} ${reason ?? '-'}`);

const WINDOWS =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';

describe('signsOf', () => {
  test.each([
    ['', ['no_agent']],
    ['Mozilla/5.0', ['bare_agent']],
    [
      'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
      ['image_proxy'],
    ],
    ['YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html', ['image_proxy']],
    ['Barracuda Sentinel (EE)', ['scanner']],
    ['Mozilla/5.0 (compatible; proofpoint)', ['scanner']],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0',
      ['scanner'],
    ],
    ['curl/8.5.0', ['bot']],
    ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', ['bot']],
    [WINDOWS, []],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)', []],
    ['Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0; Pro)', []],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Thunderbird/115.3', []],
  ])('%s', (agent, signs) => expect(signsOf({ agent, purpose: '' })).toEqual(signs));

  test.each(['prefetch', 'prefetch;prerender', 'preview'])(
    'recognizes a prefetch from the purpose %s',
    (purpose) => expect(signsOf({ agent: WINDOWS, purpose })).toEqual(['prefetch']),
  );
});

describe('classifyHits', () => {
  test.each<[string, HitFacts[], string[]]>([
    ['a person opens and follows a link', [hit(), click(0, { at: SENT + HOUR + S })], ['no -', 'no -']],
    ['a bot', [hit({ signs: ['bot'] })], ['yes bot']],
    ['a filter that names itself', [click(0, { signs: ['scanner'] })], ['yes scanner']],
    ['a browser that looks ahead', [hit({ signs: ['prefetch'] })], ['yes prefetch']],
    ['what Apple fetches for everybody', [hit({ signs: ['bare_agent'] })], ['probable bare_agent']],
    ['a client without a user agent', [hit({ signs: ['no_agent'] })], ['probable no_agent']],
    ['a mailbox fetches for its reader', [hit({ signs: ['image_proxy'] })], ['no image_proxy']],
    [
      'a mailbox fetches when the email arrives',
      [
        hit({ signs: ['image_proxy'], at: SENT + 9.9 * S }),
        hit({ signs: ['image_proxy'], at: SENT + 10 * S }),
      ],
      ['probable image_proxy_early', 'no image_proxy'],
    ],
    [
      'sooner than anybody reads',
      [hit({ at: SENT + 1_999 }), hit({ at: SENT - 5 }), hit({ at: SENT + 2_000, remote: '192.0.2.9' })],
      ['yes early', 'yes early', 'no -'],
    ],
    [
      'the invisible link, and clicks around it',
      [
        trap(),
        click(0, { at: SENT + HOUR + 10 * S, agent: 'x' }),
        click(1, { at: SENT + HOUR - 10 * S, agent: 'y' }),
        click(2, { at: SENT + HOUR + 10 * S + 1, agent: 'z' }),
        hit({ agent: 'z' }),
      ],
      ['yes trap', 'yes trap', 'yes trap', 'no -', 'no -'],
    ],
    [
      'three links in two seconds, from different clients',
      [0, 1, 2].map((link) => click(link, { at: SENT + HOUR + link * S, agent: `${link}` })),
      ['yes burst', 'yes burst', 'yes burst'],
    ],
    [
      'the same link again and again',
      [0, 1, 2].map((at) => click(0, { at: SENT + HOUR + at * 100 })),
      ['no -', 'no -', 'no -'],
    ],
    [
      'three links, as fast as a person is',
      [0, 1, 2].map((link) => click(link, { at: SENT + HOUR + link * 1_001 })),
      ['no -', 'no -', 'no -'],
    ],
    [
      'a click by a client that opened the email too early',
      [hit({ at: SENT + S }), click(0, { at: SENT + 20 * S }), click(0, { at: SENT + HOUR })],
      ['yes early', 'probable same_client', 'no -'],
    ],
    [
      'another browser behind the same address',
      [hit({ at: SENT + S }), click(0, { at: SENT + 20 * S, agent: 'another' })],
      ['yes early', 'no -'],
    ],
  ])('%s', (_name, hits, expected) => expect(judge(hits)).toEqual(expected));

  test('counts no hit as too early if the time of sending is unknown', () => {
    expect(judge([hit({ at: SENT + 1, signs: ['image_proxy'] })], null)).toEqual(['no image_proxy']);
  });
});

const WEIGHT = { no: 0, probable: 1, yes: 2 };
const SIGNS: HitSign[] = ['prefetch', 'image_proxy', 'bare_agent', 'no_agent', 'scanner', 'bot'];
const facts = fc
  .record({
    kind: fc.constantFrom('open', 'click', 'trap'),
    link: fc.nat(4),
    at: fc
      .oneof(fc.integer({ min: -3 * S, max: 15 * S }), fc.integer({ min: 0, max: 100 * S }))
      .map((ms) => SENT + ms),
    signs: fc.subarray(SIGNS, { maxLength: 2 }),
    agent: fc.constantFrom('a', 'b', null),
    remote: fc.constantFrom('1', '2', null),
  })
  .map((generated): HitFacts => ({
    ...generated,
    kind: generated.kind as HitFacts['kind'],
    link: generated.kind === 'click' ? generated.link : null,
  }));
const hitLists = fc.array(facts, { maxLength: 25 });
const sent = fc.constantFrom(SENT, null);

test('does not depend on the order of hits', () => {
  fc.assert(
    fc.property(hitLists, sent, fc.infiniteStream(fc.nat()), (hits, sentAt, weights) => {
      const order = hits
        .map((_, at) => ({ at, weight: weights.next().value }))
        .toSorted((a, b) => a.weight - b.weight);
      const shuffled = classifyHits(
        order.map(({ at }) => hits[at] as HitFacts),
        sentAt,
      );
      const straight = classifyHits(hits, sentAt);
      expect(shuffled).toEqual(order.map(({ at }) => straight[at]));
    }),
    { numRuns: 500 },
  );
});

test('never makes a hit look more human when another hit is added, least of all a trap', () => {
  fc.assert(
    fc.property(hitLists, facts, sent, (hits, another, sentAt) => {
      const before = classifyHits(hits, sentAt);
      const after = classifyHits([...hits, another], sentAt);
      for (const [at, { bot }] of before.entries())
        expect(WEIGHT[after[at]?.bot ?? 'no']).toBeGreaterThanOrEqual(WEIGHT[bot]);
    }),
    { numRuns: 1_000 },
  );
});

test('never makes a hit look more human together with others than alone', () => {
  fc.assert(
    fc.property(hitLists, sent, (hits, sentAt) => {
      for (const [at, { bot }] of classifyHits(hits, sentAt).entries())
        expect(WEIGHT[bot]).toBeGreaterThanOrEqual(WEIGHT[classifyHit(hits[at] as HitFacts).bot]);
    }),
    { numRuns: 500 },
  );
});
