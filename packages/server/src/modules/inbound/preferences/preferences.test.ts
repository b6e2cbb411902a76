import { afterAll, beforeEach, expect, test } from 'vitest';
import { testHasher, TOKEN_KEYS } from '../../../../testing/factories/send-services.ts';
import { preferencesServer, linkOf } from '../../../../testing/servers/preferences-server.ts';
import { HOUR, MINUTE } from '../../../../testing/factories/drafts.ts';
import { DAY, newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { idMaker } from '../../../platform/ids.ts';
import { type EmailName, emailToken } from '../../../platform/crypto/email-token.ts';
import { addSuppression } from '../../outcomes/suppressions/store.ts';
import { listSuppressions } from '../../outcomes/suppressions/reads.ts';
import { erasePerson } from '../../profiles/erase-user.ts';

// One email at a time, so that another one waits for it, claimed.
const stage = await openStage({ slots: 1 });
const { db } = stage.server;
const server = await preferencesServer(db);
afterAll(() => server.stop());
beforeEach(() => stage.engine.transport.setResult({ result: 'sent' }));

const ONE_CLICK = 'List-Unsubscribe=One-Click';
const FORM = 'application/x-www-form-urlencoded';

const steps = [{ draft: { subject: 'Hello', body: 'Hello.' } }];

/** One email was sent to u1, and u2 has the same mailbox. */
async function afterEmail(
  settings: Record<string, string> = {},
): Promise<{ scenario: Scenario; link: string }> {
  const scenario = await newScenario(stage);
  await scenario.set({ quiet_hours: 'off', frequency_cap: 'off', ...settings });
  await scenario.user('u1', { email: 'Ada@x.org' });
  await scenario.user('u2', { email: 'ada@X.org' });
  for (const [name, topic] of [
    ['plain', null],
    ['news', 'news'],
    ['tips', 'tips'],
  ] as const)
    await scenario.rule({
      name,
      when: { event: name },
      enrollment: 'one_at_a_time',
      ...(topic === null ? {} : { topic }),
      steps,
    });
  await scenario.event('u1', 'plain');
  await scenario.later(3 * HOUR);
  expect(await scenario.emails()).toHaveLength(1);
  return { scenario, link: await linkOf(scenario, 'u1') };
}

const SUPPRESSED = { state: 'held', reason: 'suppressed' };
const TOPICS = { topics: 'news:Product news,tips:Tips & tricks' };

type PageResponse = { status: number; text: string; headers: Headers };
async function send(link: string, init: RequestInit = {}): Promise<PageResponse> {
  const response = await fetch(server.url + link, { redirect: 'manual', ...init });
  return { status: response.status, text: await response.text(), headers: response.headers };
}
const post = (link: string, body: string, type = FORM): Promise<PageResponse> =>
  send(link, { method: 'POST', body, headers: { 'Content-Type': type } });

const held = async ({ projectId }: Scenario) =>
  (await listSuppressions(db, { projectId, limit: 10 })).map(({ kind, value, reason }) => [
    kind,
    value,
    reason,
  ]);
const outcomesOf = ({ projectId }: Scenario) =>
  db.query(`SELECT external_user_id, type, detail FROM beckon.outcome WHERE project_id = $1 ORDER BY id`, [
    projectId,
  ]);
const UNSUBSCRIBED = [
  ['email', 'ada@x.org', 'unsubscribed'],
  ['user', 'u1', 'unsubscribed'],
];

/** Everything that a preference change could affect. */
async function everything(): Promise<string> {
  const tables = [
    'suppression',
    'topic_unsubscribe',
    'outcome',
    'draft',
    'draft_move',
    'run',
    'email',
    'webhook',
    'ingest_queue',
  ];
  const rows = await Promise.all(
    tables.map((table) =>
      db.query<{ row: string }>(`SELECT t::text AS row FROM beckon.${table} t ORDER BY 1`),
    ),
  );
  return JSON.stringify(rows);
}

const multipart = (boundary: string): string =>
  `--${boundary}\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--${boundary}--\r\n`;

test.each<[string, RequestInit]>([
  ['as a form', { body: ONE_CLICK, headers: { 'Content-Type': FORM } }],
  [
    'as Gmail does',
    { body: ONE_CLICK, headers: { 'Content-Type': FORM, 'User-Agent': 'Mozilla/5.0 (compatible; Gmail)' } },
  ],
  ['with a charset', { body: ONE_CLICK, headers: { 'Content-Type': `${FORM}; charset=UTF-8` } }],
  [
    'in parts',
    { body: multipart('bound'), headers: { 'Content-Type': 'multipart/form-data; boundary=bound' } },
  ],
  [
    'in parts with a quoted boundary, as Yahoo does',
    {
      body: multipart('--=_Part 7'),
      headers: { 'Content-Type': 'Multipart/Form-Data; boundary="--=_Part 7"' },
    },
  ],
  ['as parts of a browser', { body: formData({ 'List-Unsubscribe': 'One-Click' }) }],
  ['without a media type', { body: new Blob([ONE_CLICK]) }],
])('unsubscribes by one click of a mail program, sent as %s, without cookie or redirect', async (_, init) => {
  const { scenario, link } = await afterEmail();
  const { status, headers, text } = await send(link, { method: 'POST', ...init });
  expect([status, headers.get('location'), headers.get('set-cookie')]).toEqual([200, null, null]);
  expect(text).toContain('You are unsubscribed');
  expect(await held(scenario)).toEqual(UNSUBSCRIBED);
  expect(await outcomesOf(scenario)).toMatchObject([
    { external_user_id: 'u1', type: 'email.unsubscribed', detail: { method: 'one_click' } },
  ]);
});

function formData(values: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(values)) form.set(name, value);
  return form;
}

test('accepts repeated and concurrent unsubscribes: 200 each time, and one outcome', async () => {
  const { scenario, link } = await afterEmail();
  const responses = await Promise.all(Array.from({ length: 20 }, () => post(link, ONE_CLICK)));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  const before = await everything();
  for (let i = 0; i < 5; i += 1) expect((await post(link, ONE_CLICK)).status).toBe(200);
  expect(await everything()).toBe(before);
  expect(await outcomesOf(scenario)).toHaveLength(1);
});

test('records the button of the page apart from one-click unsubscribe, and redacts the address on the page', async () => {
  const { scenario, link } = await afterEmail();
  const page = await send(link);
  expect(page.text).toContain('a•••@x.org');
  expect(page.text).not.toContain('ada@x.org');
  const { status, text } = await post(link, 'unsubscribe=yes');
  expect([status, text.includes('You are unsubscribed')]).toEqual([200, true]);
  expect(await outcomesOf(scenario)).toMatchObject([{ detail: { method: 'link' } }]);
});

test('takes effect immediately: cancels claimed emails, ends runs, and stops emails to the mailbox', async () => {
  const { scenario, link } = await afterEmail();
  await scenario.user('u0', { email: 'eve@x.org' });
  for (const [userId, name] of [
    ['u0', 'plain'],
    ['u1', 'news'],
    ['u2', 'tips'],
  ] as const) {
    await scenario.event(userId, name);
    await scenario.later(1_000);
  }
  await scenario.later(2 * HOUR - MINUTE);
  // Past all three at once, so that they are claimed together.
  stage.server.clock.advance(2 * MINUTE);
  let claimed: unknown = null;
  stage.engine.transport.setResult(async ({ userId }) => {
    expect(userId).toBe('u0');
    claimed = await claimedOf(scenario);
    expect((await post(link, ONE_CLICK)).status).toBe(200);
    return { result: 'sent' };
  });
  await stage.engine.settle();
  expect(claimed).toEqual(['u1', 'u2']);
  await scenario.later(2 * MINUTE);
  await stage.engine.sender.giveUp();
  await scenario.user('u1', { email: 'another@x.org' });
  await scenario.event('u1', 'plain');
  await scenario.event('u2', 'plain');
  await scenario.later(3 * DAY);
  expect((await scenario.drafts()).map(({ userId, state }) => `${userId} ${state}`).toSorted()).toEqual([
    'u0 sent',
    'u1 canceled',
    'u1 canceled',
    'u1 sent',
    'u2 canceled',
    'u2 canceled',
  ]);
});

async function claimedOf({ projectId }: Scenario): Promise<string[]> {
  const rows = await db.query<{ external_user_id: string }>(
    `SELECT external_user_id FROM beckon.email WHERE project_id = $1 AND state = 'claimed' ORDER BY 1`,
    [projectId],
  );
  return rows.map((row) => row.external_user_id);
}

test('changes nothing on GET, HEAD, an unknown method, or a POST without a choice', async () => {
  const { link } = await afterEmail(TOPICS);
  const before = await everything();
  const prefetch = { 'Sec-Purpose': 'prefetch', Purpose: 'prefetch', 'X-Moz': 'prefetch' };
  expect((await send(link, { headers: prefetch })).status).toBe(200);
  expect((await send(`${link}?${ONE_CLICK}`)).status).toBe(200);
  expect(await send(link, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  for (const method of ['PUT', 'DELETE', 'OPTIONS', 'PATCH'])
    expect((await send(link, { method })).status).toBe(404);
  for (const path of ['/topics', '/snooze', '/resubscribe'])
    expect((await send(link + path)).status).toBe(404);
  for (const body of [
    '',
    'List-Unsubscribe=',
    'List-Unsubscribe=No',
    'One-Click',
    'unsubscribe=no',
    '{"a":1}',
  ])
    expect((await post(link, body)).status).toBe(400);
  expect((await post(link, 'broken', 'multipart/form-data; boundary=x')).status).toBe(400);
  expect((await post(link, multipart('x'), 'multipart/form-data')).status).toBe(400);
  expect((await send(link, { method: 'POST' })).status).toBe(400);
  for (const days of ['', '31', '1e1', '-30', '99999999'])
    expect((await post(`${link}/snooze`, `days=${days}`)).status).toBe(400);
  expect((await post(link, `${ONE_CLICK}&x=${'x'.repeat(20_000)}`)).status).toBe(413);
  expect(await everything()).toBe(before);
});

test('accepts none of a thousand forged links, even with all facts of the email', async () => {
  const { scenario, link } = await afterEmail(TOPICS);
  const [row] = await db.query<{ id: string }>(`SELECT id FROM beckon.email WHERE project_id = $1`, [
    scenario.projectId,
  ]);
  const forged = forgeries(link.slice('/u/'.length), {
    projectId: scenario.projectId,
    emailId: row?.id ?? '',
  });
  const before = await everything();
  const statuses = new Set<number>();
  for (const token of forged) statuses.add((await post(`/u/${token}`, ONE_CLICK)).status);
  expect([forged.size, [...statuses]]).toEqual([1_000, [404]]);
  expect((await send('/u/forged')).text).toContain('This link does not work');
  expect(await everything()).toBe(before);
});

function forgeries(token: string, name: EmailName): Set<string> {
  const forged = new Set([
    'x',
    '%00',
    encodeURIComponent("' OR 1=1"),
    token.slice(0, -1),
    `${token}a`,
    name.emailId,
  ]);
  // Another installation's key, tokens for other uses, and this signature on other emails.
  forged.add(emailToken(name, 'unsubscribe', [Buffer.alloc(32, 1)]));
  for (const use of ['open', 'bounce', 'reply', 'click 0', 'trap', 'choices', 'test', 'team'] as const)
    forged.add(emailToken(name, use, TOKEN_KEYS));
  const [named = '', signature = ''] = token.split('.');
  for (let i = 0; i < 100; i += 1) {
    const other = { ...name, emailId: idMaker(db.clock)() };
    forged.add(`${emailToken(other, 'open', TOKEN_KEYS).split('.')[0]}.${signature}`);
  }
  // The last character of the token holds bits without a meaning; every other character has one.
  const positions = Array.from(token).flatMap((sign, at) =>
    sign === '.' || at === named.length - 1 ? [] : [at],
  );
  for (let i = 0; forged.size < 1_000; i += 1) {
    const at = positions[i % positions.length] ?? 0;
    const changed = token.slice(0, at) + (SIGNS[(i * 7 + at) % SIGNS.length] ?? '') + token.slice(at + 1);
    if (changed !== token) forged.add(changed);
  }
  return forged;
}

const SIGNS = 'abcdefghijklmnopqrstuvwxyz234567';

test('leaves users of other projects with the same id and address unaffected', async () => {
  const first = await afterEmail();
  const other = await afterEmail();
  await post(first.link, ONE_CLICK);
  expect([await held(first.scenario), await held(other.scenario)]).toEqual([UNSUBSCRIBED, []]);
  await other.scenario.event('u1', 'news');
  await other.scenario.later(3 * HOUR);
  expect(await other.scenario.emails()).toHaveLength(2);
});

test('shows an erased user that there are no preferences to change, and does not recreate them', async () => {
  const { scenario, link } = await afterEmail();
  await erasePerson(
    { db, newId: idMaker(db.clock), hasher: testHasher },
    { projectId: scenario.projectId, userId: 'u1' },
  );
  const before = await everything();
  for (const path of ['', '/topics', '/snooze', '/resubscribe']) {
    const { status, text } = await post(link + path, `${ONE_CLICK}&days=30&topic=news`);
    expect([status, text.includes('No preferences to change')]).toEqual([200, true]);
  }
  expect((await send(link)).text).toContain('No preferences to change');
  expect(await everything()).toBe(before);
});

test('resubscribes a user, who can unsubscribe again by the same email', async () => {
  const { scenario, link } = await afterEmail();
  await post(link, ONE_CLICK);
  const { status, text } = await post(`${link}/resubscribe`, '');
  expect([status, text.includes('You have been resubscribed.')]).toEqual([200, true]);
  expect(await held(scenario)).toEqual([]);
  await scenario.event('u1', 'news');
  await scenario.later(3 * HOUR);
  expect(await scenario.emails()).toHaveLength(2);
  await post(link, ONE_CLICK);
  expect(await held(scenario)).toEqual(UNSUBSCRIBED);
  expect(await outcomesOf(scenario)).toHaveLength(1);
});

test("lifts only the user's own unsubscribe: a bounce and a suppression by the team stay", async () => {
  const { scenario, link } = await afterEmail();
  const row = { projectId: scenario.projectId, until: null, createdAt: scenario.now(), createdBy: 'ann' };
  await addSuppression(db, { ...row, kind: 'email', value: 'ada@x.org', reason: 'hard_bounce' });
  expect((await send(link)).text).toContain('because earlier emails could not be delivered');
  await addSuppression(db, { ...row, kind: 'user', value: 'u1', reason: 'manual' });
  const { text } = await post(`${link}/resubscribe`, '');
  expect(text).toContain('at the moment');
  expect(await held(scenario)).toEqual([
    ['email', 'ada@x.org', 'hard_bounce'],
    ['user', 'u1', 'manual'],
  ]);
  // Their own unsubscribe takes precedence over both, so lifting those would not resume emails.
  await post(link, ONE_CLICK);
  expect(await held(scenario)).toEqual(UNSUBSCRIBED);
  await post(`${link}/resubscribe`, '');
  expect(await held(scenario)).toEqual([
    ['email', 'ada@x.org', 'hard_bounce'],
    ['user', 'u1', 'manual'],
  ]);
});

test('keeps a suppression by the team when an unsubscribed user resubscribes', async () => {
  const { scenario, link } = await afterEmail();
  await post(link, ONE_CLICK);
  const row = { projectId: scenario.projectId, until: null, createdAt: scenario.now(), createdBy: 'ann' };
  expect(await addSuppression(db, { ...row, kind: 'user', value: 'u1', reason: 'manual' })).toBe(false);
  expect(await held(scenario)).toEqual(UNSUBSCRIBED);
  await post(`${link}/resubscribe`, '');
  expect(await held(scenario)).toEqual([['user', 'u1', 'manual']]);
});

test('replaces an unsubscribe that ends by a lasting one when the user unsubscribes again', async () => {
  const { scenario, link } = await afterEmail();
  await post(link, ONE_CLICK);
  await post(`${link}/resubscribe`, '');
  const until = scenario.now() + 10 * DAY;
  const row = { projectId: scenario.projectId, until, createdAt: scenario.now(), createdBy: 'ann' };
  for (const [kind, value] of [
    ['email', 'ada@x.org'],
    ['user', 'u1'],
  ] as const)
    await addSuppression(db, { ...row, kind, value, reason: 'unsubscribed' });
  await post(link, ONE_CLICK);
  await scenario.later(11 * DAY);
  await scenario.event('u1', 'news');
  await scenario.later(3 * HOUR);
  expect(await scenario.emails()).toHaveLength(1);
  expect(await held(scenario)).toEqual(UNSUBSCRIBED);
});

test('ends a snooze automatically, shows its end, and lets a shorter one replace it', async () => {
  const { scenario, link } = await afterEmail();
  const begun = scenario.now();
  const { text } = await post(`${link}/snooze`, 'days=90');
  const until = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });
  expect(text).toContain(until.format(begun + 90 * DAY));
  expect((await post(`${link}/snooze`, 'days=30')).text).toContain(until.format(begun + 30 * DAY));
  expect(await outcomesOf(scenario)).toEqual([]);
  await scenario.later(29 * DAY + 20 * HOUR);
  await scenario.event('u1', 'news');
  await scenario.later(3 * HOUR);
  expect(await scenario.emails()).toHaveLength(1);
  expect(await scenario.drafts('u1')).toMatchObject([{ rule: 'plain' }, SUPPRESSED]);
  await scenario.later(HOUR);
  expect(await scenario.emails()).toMatchObject([{}, { at: begun + 30 * DAY }]);
  expect((await send(link)).text).toContain('sends emails to');
});

test('sends the held emails at once when a user ends a snooze', async () => {
  const { scenario, link } = await afterEmail();
  await post(`${link}/snooze`, 'days=60');
  await scenario.event('u1', 'news');
  await scenario.later(3 * HOUR);
  expect(await scenario.drafts('u1')).toMatchObject([{}, SUPPRESSED]);
  await post(`${link}/resubscribe`, '');
  await scenario.later(MINUTE);
  expect(await scenario.emails()).toHaveLength(2);
});

test('stops emails of a refused topic for the user and the mailbox, and sends all others', async () => {
  const { scenario, link } = await afterEmail(TOPICS);
  expect(checked((await send(link)).text)).toEqual(['news', 'tips']);
  await scenario.event('u1', 'news');
  await scenario.later(HOUR);
  const { text } = await post(`${link}/topics`, 'topic=tips&topic=unknown');
  expect(text).toContain('Your preferences have been saved.');
  expect(checked(text)).toEqual(['tips']);
  await scenario.event('u1', 'tips');
  await scenario.event('u1', 'plain');
  await scenario.event('u2', 'news');
  await scenario.user('u1', { email: 'another@x.org' });
  await scenario.later(3 * HOUR);
  expect((await scenario.emails()).map(({ rule }) => rule).toSorted()).toEqual(['plain', 'plain', 'tips']);
  const refused = (await scenario.drafts()).filter(({ rule }) => rule === 'news');
  expect(refused).toMatchObject([
    { userId: 'u1', state: 'canceled', reason: 'topic_unsubscribed' },
    { userId: 'u2', state: 'canceled', reason: 'topic_unsubscribed' },
  ]);
  expect(await scenario.why('u1', 'news')).toMatchObject({ fired: 1, topic_unsubscribed: 1 });
  await post(`${link}/topics`, 'topic=tips&topic=news');
  await scenario.event('u1', 'news');
  await scenario.later(3 * HOUR);
  expect((await scenario.emails()).filter(({ rule }) => rule === 'news')).toHaveLength(1);
});

/** The topics that are checked. */
function checked(page: string): string[] {
  return [...page.matchAll(/<input[^>]*value="([^"]*)"[^>]*\bchecked\b/g)].map(([, id]) => id ?? '');
}

test('forbids storing, framing, indexing, scripts and referrers on every page', async () => {
  const { link } = await afterEmail();
  for (const path of [link, '/u/forged']) {
    const { headers } = await send(path);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    const names = ['referrer-policy', 'cache-control', 'x-robots-tag', 'vary'];
    const values = ['no-referrer', 'no-store', 'noindex', 'Accept-Language'];
    expect(names.map((name) => headers.get(name))).toEqual(values);
  }
});

test('escapes markup in the name of a project and of a topic', async () => {
  const topics = 'news:<img src=x onerror=alert(1)>,tips:"><script>';
  const { scenario, link } = await afterEmail({ topics });
  await db.query(`UPDATE beckon.project SET name = $2 WHERE project_id = $1`, [
    scenario.projectId,
    `</title><script>alert(1)</script>{address}$&"'`,
  ]);
  for (const { text } of [await send(link), await post(link, ONE_CLICK)]) {
    expect(text).not.toMatch(/<(?:script|img)/);
    expect(text).toContain('&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;{address}$&amp;&quot;&#39;');
  }
});

test.each<[string | null, string, string]>([
  [null, '', 'en'],
  ['de', '', 'de'],
  ['pt-BR,pt;q=0.9,en;q=0.8', '', 'pt'],
  ['xx, fr-CH;q=0.5, de;q=0.7', '', 'de'],
  ['de;q=0, ja', '', 'ja'],
  ['zz;;;,\u{20}*', '', 'en'],
  [`${'a,'.repeat(500)}de`, '', 'en'],
  ['de', '?lang=ar', 'ar'],
  ['de', '?lang=__proto__', 'de'],
  ['de', '?lang=fr&lang=es', 'de'],
])('answers Accept-Language %j and %j with the page in %s', async (accepted, query, language) => {
  const { text } = await send(
    `/u/forged${query}`,
    accepted === null ? {} : { headers: { 'Accept-Language': accepted } },
  );
  expect(text).toContain(`<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`);
});

test('uses the language of the user, then of the browser, then of the project', async () => {
  const { scenario, link } = await afterEmail({ language: 'fr' });
  const langOf = async (accepted: string): Promise<string | undefined> =>
    /<html lang="([^"]*)"/.exec((await send(link, { headers: { 'Accept-Language': accepted } })).text)?.[1];
  expect([await langOf('ja'), await langOf('pl')]).toEqual(['ja', 'fr']);
  await scenario.user('u1', { traits: { locale: 'de_AT' } });
  await scenario.later(MINUTE);
  expect([await langOf('ja'), await langOf('pl')]).toEqual(['de', 'de']);
  const { text } = await post(`${link}/snooze`, 'days=30');
  const until = new Intl.DateTimeFormat('de-AT', { dateStyle: 'long', timeZone: 'UTC' });
  expect(text).toContain(`bis zum <bdi>${until.format(scenario.now() + 30 * DAY)}</bdi>`);
  await scenario.user('u1', { traits: { locale: 'pl' } });
  await scenario.later(MINUTE);
  expect(await langOf('ja')).toBe('ja');
});

test('keeps a selected language in every form', async () => {
  const { link } = await afterEmail(TOPICS);
  const { text } = await send(`${link}?lang=es`);
  const actions = [...text.matchAll(/action="([^"]*)"/g)].map(([, action]) => action);
  expect(actions).toEqual(['', '/topics', '/snooze'].map((path) => `${link}${path}?lang=es`));
  expect((await post(`${link}/snooze?lang=es`, 'days=30')).text).toContain('Sus correos están en pausa');
});
