import { expect, test } from 'vitest';
import { checkEmail } from '../../review/emails/checked-email.ts';
import { emailToken, type TokenUse } from '../../../platform/crypto/email-token.ts';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import { testRenderer, TOKEN_KEYS } from '../../../../testing/factories/send-services.ts';
import { openStage } from '../../../../testing/scenario.ts';
import {
  BROWSER,
  type FetchOptions,
  sendTracked,
  settleAll,
  startTracking,
  type TrackedEmail,
  type TrackedEmailInput,
} from '../../../../testing/servers/tracking.ts';

const stage = await openStage();
const { engine, server } = stage;
const { db, clock } = server;
const here = await startTracking(db);
const there = await startTracking(db);

const sent = (writing?: TrackedEmailInput) => sendTracked(stage, writing);
const settle = (afterMs?: number) => settleAll(stage, [here, there], afterMs);

const open = (email: TrackedEmail, as?: FetchOptions) => here.get(email.pixel, as);
const follow = (email: TrackedEmail, link = 0, as?: FetchOptions) => here.get(email.links[link] ?? '', as);

test('rewrites the links of the HTML with opaque tokens, and keeps the addresses in the plain text', async () => {
  const email = await sent();
  expect(email.links.map((link) => new URL(link).pathname)).toEqual([
    expect.stringMatching(/^\/c\/[a-z2-7]{34}\.[a-z2-7]{16}\/0$/),
    expect.stringMatching(/^\/c\/[a-z2-7]{34}\.[a-z2-7]{16}\/1$/),
    expect.stringMatching(/^\/c\/[a-z2-7]{34}\.[a-z2-7]{16}\/2$/),
    'help@acme.test',
  ]);
  expect(email.html).not.toContain('acme.test/guide');
  expect(email.html).toMatch(/href="http:\/\/localhost:8080\/u\//);
  expect(email.text).toContain('https://acme.test/guide?a=1&b=2');
  expect(email.text).not.toMatch(/\/[co]\/[a-z2-7]{34}/);
  expect(email.pixel).toMatch(/^http:\/\/localhost:8080\/o\/[a-z2-7.]{51}\.gif$/);
  expect(email.trap).toMatch(/^http:\/\/localhost:8080\/c\/[a-z2-7.]{51}\/3$/);
});

test('redirects at once, and reports the open and the click ten seconds later', async () => {
  const email = await sent();
  const response = await follow(email);
  expect(response.status).toBe(302);
  expect(response.headers.get('location')).toBe('https://acme.test/guide?a=1&b=2');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  await here.written();
  expect(await email.hits()).toEqual(['click ? -']);
  await settle(9_999);
  expect(await email.outcomes()).toEqual([]);
  await settle(1);
  expect(await email.outcomes()).toEqual(['clicked 0 no', 'opened -1 no']);
  const [row] = await db.query<{ detail: object }>(
    `SELECT detail FROM beckon.outcome WHERE project_id = $1 AND type = 'email.clicked'`,
    [email.scenario.projectId],
  );
  expect(row?.detail).toMatchObject({ url: 'https://acme.test/guide?a=1&b=2', bot: 'no' });
});

test('serves an image of one pixel, never cached, and counts one open however often it is fetched', async () => {
  const email = await sent();
  const response = await open(email);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('image/gif');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(
    Buffer.from(await response.arrayBuffer())
      .subarray(0, 6)
      .toString(),
  ).toBe('GIF89a');
  await here.get(email.pixel.replace('.gif', ''));
  await there.get(email.pixel);
  await settle();
  await open(email);
  await settle();
  expect(await email.outcomes()).toEqual(['opened -1 no']);
  expect(await email.count()).toBe(4);
});

test('answers HEAD without counting it', async () => {
  const email = await sent();
  expect((await open(email, { method: 'HEAD' })).status).toBe(200);
  const response = await follow(email, 0, { method: 'HEAD' });
  expect([response.status, response.headers.get('location')]).toEqual([
    302,
    'https://acme.test/guide?a=1&b=2',
  ]);
  expect((await here.get(email.trap ?? '', { method: 'HEAD' })).status).toBe(204);
  await settle();
  expect(await email.count()).toBe(0);
});

test('classifies bots and humans, and reports each class once', async () => {
  const email = await sent();
  await open(email, { agent: 'curl/8.5.0' });
  await open(email, { agent: 'Mozilla/5.0', remote: '192.0.2.2' });
  await open(email, { agent: 'x (via ggpht.com GoogleImageProxy)', remote: '192.0.2.3' });
  await follow(email, 1, { headers: { 'Sec-Purpose': 'prefetch' } });
  await settle();
  expect((await email.hits()).toSorted()).toEqual([
    'click yes prefetch',
    'open no image_proxy',
    'open probable bare_agent',
    'open yes bot',
  ]);
  expect(await email.outcomes()).toEqual([
    'clicked 1 yes',
    'opened -1 no',
    'opened -1 probable',
    'opened -1 yes',
  ]);
});

test('answers the hidden link with no content, and classifies clicks around it as a bot’s', async () => {
  const email = await sent();
  await follow(email, 0, { agent: BROWSER, remote: '192.0.2.7' });
  clock.advance(5_000);
  expect((await here.get(email.trap ?? '')).status).toBe(204);
  clock.advance(20_000);
  await follow(email, 1, { remote: '192.0.2.8' });
  await settle();
  expect((await email.hits()).toSorted()).toEqual(['click no -', 'click yes trap', 'trap yes trap']);
  expect(await email.outcomes()).toEqual(['clicked 0 yes', 'clicked 1 no', 'opened -1 no']);
});

test('does not count a filter that follows every link on arrival as a reader', async () => {
  const email = await sent();
  clock.advance(-HOUR + 1_000);
  for (const link of [0, 1, 2]) await follow(email, link);
  await open(email);
  await settle();
  expect(new Set(await email.hits())).toEqual(new Set(['click yes burst', 'open yes early']));
  clock.advance(HOUR);
  await open(email);
  await settle();
  expect(await email.outcomes()).toEqual([
    'clicked 0 yes',
    'clicked 1 yes',
    'clicked 2 yes',
    'opened -1 no',
    'opened -1 yes',
  ]);
});

/** Returns a character that differs only in its last bit, which has no meaning at the end of a token. */
function neighbourOf(sign: string): string {
  const signs = 'abcdefghijklmnopqrstuvwxyz234567';
  return signs[signs.indexOf(sign) ^ 1] ?? '!';
}

test('rejects a changed link without a hit: characters, number, use, email, project', async () => {
  const email = await sent();
  const other = await sent();
  const paths = [email.links[0], email.pixel, email.trap].map((link) => new URL(link ?? '').pathname);
  const forged = paths.flatMap((path) =>
    Array.from(path, (sign, at) => {
      if (at < 3 || sign === '.' || sign === '/' || path.slice(at).length <= 4) return [];
      return [neighbourOf(sign), 'a', '7', '%00']
        .filter((replacement) => replacement !== sign)
        .map((replacement) => path.slice(0, at) + replacement + path.slice(at + 1));
    }).flat(),
  );
  const name = { projectId: email.scenario.projectId, emailId: email.emailId };
  const foreign = { ...name, projectId: other.scenario.projectId };
  const token = (of: typeof name, use: TokenUse): string => emailToken(of, use, TOKEN_KEYS);
  const uses = (['open', 'unsubscribe', 'reply', 'bounce', 'click 1'] as const).map(
    (use) => `/c/${token(name, use)}/0`,
  );
  const swapped = [
    ...uses,
    `/c/${token(name, 'click 0')}/1`,
    `/c/${token(name, 'click 0')}/00`,
    `/c/${token(name, 'click 0')}/-0`,
    `/c/${token(name, 'click 99')}/99`,
    `/c/${token(name, 'click 999999')}/999999`,
    `/c/${token(foreign, 'click 0')}/0`,
    `/o/${token(name, 'click 0')}.gif`,
    `/o/${emailToken(name, 'open', [Buffer.alloc(32, 1)])}.gif`,
  ];
  expect(forged.length).toBeGreaterThan(300);
  for (const path of [...forged, ...swapped]) {
    const response = await here.get(`http://x${path}`);
    expect([path, response.status]).toEqual([path, 404]);
    expect(response.headers.get('location')).toBeNull();
  }
  await settle();
  expect([await email.count(), await other.count()]).toEqual([0, 0]);
});

test('accepts a link for a year, and after a key rotation while the old key is configured', async () => {
  const email = await sent();
  const year = 365 * 24 * HOUR;
  clock.advance(year - 3 * HOUR);
  expect((await follow(email)).status).toBe(302);
  clock.advance(3 * HOUR);
  const [page, pixel] = [await follow(email), await open(email)];
  expect([page.status, pixel.status]).toEqual([404, 404]);
  expect(await page.text()).toContain('<h1>This link does not work</h1>');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page.headers.get('vary')).toBe('Accept-Language');
  clock.advance(-year);
});

test.each([
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'ftp://acme.test/',
  '//acme.test',
  'nonsense',
  '',
])('redirects to web pages alone, whatever the table contains: %s', async (url) => {
  const email = await sent();
  await db.query(`UPDATE beckon.tracking_link SET urls[1] = $2 WHERE project_id = $1`, [
    email.scenario.projectId,
    url,
  ]);
  const response = await follow(email);
  expect([response.status, response.headers.get('location')]).toEqual([404, null]);
});

test('writes no line break of the table into a header', async () => {
  const email = await sent();
  await db.query(`UPDATE beckon.tracking_link SET urls[1] = $2 WHERE project_id = $1`, [
    email.scenario.projectId,
    'https://acme.test/a\r\nSet-Cookie: x=1\u00FC\u2028',
  ]);
  const response = await follow(email);
  expect(response.status).toBe(302);
  expect(response.headers.get('set-cookie')).toBeNull();
  expect(response.headers.get('location')).toMatch(
    /^https:\/\/acme\.test\/aSet-Cookie:%20x=1%C3%BC%E2%80%A8$/,
  );
});

test.each([
  ['off', {}, { links: false, pixel: false }],
  ['opens', {}, { links: false, pixel: true }],
  ['clicks', {}, { links: true, pixel: false }],
  ['opens,clicks', { tracking: false }, { links: false, pixel: false }],
])('tracks in a project with %s and a rule with %o', async (tracking, rule, expected) => {
  const email = await sent({ settings: { tracking }, rule });
  expect({ links: email.links[0]?.includes('/c/'), pixel: email.pixel !== '' }).toEqual(expected);
  expect(email.trap !== null).toBe(expected.links);
  const rows = await db.query(`SELECT 1 FROM beckon.tracking_link WHERE project_id = $1`, [
    email.scenario.projectId,
  ]);
  expect(rows).toHaveLength(expected.links || expected.pixel ? 1 : 0);
});

test('reports no open for a click if opens are not tracked', async () => {
  const email = await sent({ settings: { tracking: 'clicks' } });
  await follow(email);
  await settle();
  expect(await email.outcomes()).toEqual(['clicked 0 no']);
});

test('tracks a template with a whole layout of its own like any other', async () => {
  const body = `<mjml><mj-body><mj-section><mj-column><mj-text>Hi</mj-text>
<mj-button href="https://acme.test/page?x=1&amp;y=2">Go on</mj-button></mj-column></mj-section></mj-body></mjml>`;
  const email = await sent({ template: { format: 'mjml', body } });
  expect(email.html).toMatch(/<img src="[^"]*\/o\/[^"]*"[^>]*>\s*<\/body>/);
  expect((await follow(email)).headers.get('location')).toBe('https://acme.test/page?x=1&y=2');
  expect(email.text).toContain('https://acme.test/page?x=1&y=2');
});

test('sends a retried email as the same bytes, whose links keep their targets', async () => {
  engine.transport.setResult({ result: 'deferred', reason: 'deferred' });
  const first = await sent();
  const { scenario } = first;
  engine.transport.setResult({ result: 'sent' });
  await scenario.later(12 * HOUR);
  const sentEmails = engine.transport.emails.filter(({ projectId }) => projectId === scenario.projectId);
  expect(sentEmails.length).toBeGreaterThanOrEqual(2);
  for (const { mime } of sentEmails)
    expect(Buffer.compare(mime, sentEmails[0]?.mime ?? Buffer.alloc(0))).toBe(0);
  expect((await follow(first)).status).toBe(302);
});

test('checks a tracked email in the test inbox by its original links', async () => {
  const email = await sent();
  const { projectId } = email.scenario;
  const mime =
    engine.transport.emails.findLast((entry) => entry.projectId === projectId)?.mime ?? Buffer.alloc(0);
  const input = { projectId, raw: mime, kind: 'user', at: clock.now() } as const;
  const checkMessages = async (id: string): Promise<Record<string, string>> => {
    const { checks } = await checkEmail({ db, renderer: testRenderer }, { ...input, id });
    return Object.fromEntries(checks.map(({ name, status, message }) => [name, `${status} ${message}`]));
  };
  const { links, text_links: inText, images, html } = await checkMessages(email.emailId);
  expect(links).toMatch(/^warning A link points to this machine/);
  expect([inText, images, html]).toEqual([
    'ok Every link of the HTML is in the plain text.',
    'ok The email has no images.',
    'ok Email clients support all of its HTML.',
  ]);
});
