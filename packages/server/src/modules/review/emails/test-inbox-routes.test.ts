import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type {
  TestInboxEmail,
  TestInboxEmailWhole,
  TestInboxState,
  ReplyListed,
  ReplyThread,
} from '@beckon/contract/dashboard';
import { type DashboardRequestOptions, testDashboard } from '../../../../testing/servers/dashboard.ts';
import { goodHtml, goodEmail } from '../../../../testing/factories/outgoing-email.ts';
import { testMail } from '../../../../testing/factories/send-services.ts';
import { newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { idMaker } from '../../../platform/ids.ts';
import { keepMail } from '../test-inbox/keep-mail.ts';
import { insertReply } from '../../inbound/replies/store.ts';
import type { NewReply } from '../../inbound/replies/reply.ts';
import { createProject } from '../../administration/create-project.ts';

const stage = await openStage();
const { db } = stage.server;
const newId = idMaker(db.clock);
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

let scenario: Scenario;
beforeEach(async () => {
  scenario = await newScenario(stage);
});

const request = <T>(what: string, options: DashboardRequestOptions = {}) => {
  const [method, path = ''] = what.split(' ');
  return dashboard.request<T>(`${method} /projects/${scenario.projectId}${path}`, options);
};

async function keep(userId: string | null = 'ada', html?: string): Promise<string> {
  const raw = await goodEmail({ date: new Date(scenario.now()), ...(html === undefined ? {} : { html }) });
  const id = newId();
  const draftId = userId === null ? null : newId();
  const envelope = { mailFrom: 'b+t@acme.test', rcptTo: 'ada@x.test', at: scenario.now() };
  await keepMail(db, { projectId: scenario.projectId, id, draftId, userId, ...envelope, raw });
  await scenario.later(1_000);
  return id;
}

async function addReply(changed: Partial<NewReply> = {}): Promise<string> {
  const id = newId();
  const reply: NewReply = {
    projectId: scenario.projectId,
    id,
    emailId: newId(),
    draftId: newId(),
    userId: 'ada',
    inboundId: newId(),
    kind: 'reply',
    verified: 'recipient',
    receivedAt: scenario.now(),
    fromAddress: 'ada@home.test',
    fromName: 'Ada',
    subject: 'Re: Welcome',
    text: 'Thanks!\n\nAda',
    raw: Buffer.from('x'),
    forwardAt: scenario.now(),
    ...changed,
  };
  expect(await insertReply(db, reply)).toBe('new');
  await scenario.later(1_000);
  return id;
}

test('an empty test inbox shows whether emails arrive here, and when the next one does', async () => {
  expect((await request('GET /test-inbox')).json).toMatchObject({ data: [], meta: { cursor: null } });
  const state = async () =>
    (await request<TestInboxState>('GET /test-inbox/state', { as: 'viewer' })).json.data;
  expect(await state()).toMatchObject({ in_use: true, waiting: 0, next_at: null, kept_days: 30 });
  await scenario.user('ada', { email: 'ada@x.org' });
  await scenario.rule({
    name: 'greeter',
    when: { event: 'hello' },
    mode: 'autopilot',
    deadline: '1h',
    steps: [{ draft: { subject: 'Hello', body: 'You' } }],
  });
  await scenario.event('ada', 'hello');
  await stage.engine.settle();
  const at = new Date(scenario.now() + 3_600_000).toISOString();
  expect(await state()).toMatchObject({ waiting: 1, next_at: at });
});

test('lists emails newest first, in pages and by user, and marks those to members', async () => {
  const first = await keep();
  const second = await keep('bob');
  const team = await keep(null);
  const all = (await request<TestInboxEmail[]>('GET /test-inbox', { as: 'viewer' })).json;
  expect(all.data.map(({ id, kind }) => [id, kind])).toEqual([
    [team, 'team'],
    [second, 'user'],
    [first, 'user'],
  ]);
  expect(all.meta.pagination.total).toBe(3);
  const page = (await request<TestInboxEmail[]>('GET /test-inbox?limit=2')).json;
  const next = (await request<TestInboxEmail[]>(`GET /test-inbox?limit=2&cursor=${page.meta.cursor}`)).json;
  expect([...page.data, ...next.data]).toEqual(all.data);
  const bobs = (await request<TestInboxEmail[]>('GET /test-inbox?user=bob')).json;
  expect([bobs.data.map(({ id }) => id), bobs.meta.pagination.total]).toEqual([[second], 1]);
  expect((await request('GET /test-inbox?draft=nothing')).json.data).toEqual([]);
});

describe('email.html?images=show', () => {
  /** An image server that does not answer until it is released. */
  function slowPictures() {
    const begun: PromiseWithResolvers<void>[] = [];
    let [open, most] = [0, 0];
    const openOutbound = () => {
      open += 1;
      most = Math.max(most, open);
      let isOpen = true;
      return {
        ...testMail().openOutbound(),
        async get() {
          const gate = Promise.withResolvers<void>();
          begun.push(gate);
          await gate.promise;
          return { ok: false as const, error: 'timeout' as const, detail: '', ms: 0 };
        },
        close() {
          if (isOpen) open -= 1;
          isOpen = false;
          for (const gate of begun) gate.resolve();
        },
      };
    };
    return { openOutbound: openOutbound as never, begun, open: () => open, most: () => most };
  }

  test('fetches the images of one email of a project at a time', async () => {
    const pictures = slowPictures();
    const looking = testDashboard(db, { openOutbound: pictures.openOutbound });
    const id = await keep('ada', goodHtml({ more: '<img src="https://x.test/b.png" alt="">' }));
    const path = `/projects/${scenario.projectId}/test-inbox/${id}/email.html?images=show`;
    let refused = 0;
    const tenRefused = Promise.withResolvers<void>();
    const responses = Array.from({ length: 30 }, async () => {
      const { status, headers } = await looking.request(`GET ${path}`);
      if (status !== 503) return status;
      expect(headers['retry-after']).toBe('5');
      if (++refused === 10) tenRefused.resolve();
      return status;
    });
    // No image arrives before all requests are waiting or refused.
    await tenRefused.promise;
    let isFinished = false;
    const all = Promise.all(responses).finally(() => (isFinished = true));
    while (!isFinished) {
      for (const gate of pictures.begun.splice(0)) gate.resolve();
      await setImmediate();
    }
    expect((await all).filter((status) => status === 200)).toHaveLength(20);
    expect(pictures.most()).toBe(1);
    await looking.close();
  });

  test('ends with its client', async () => {
    const pictures = slowPictures();
    const looking = testDashboard(db, { openOutbound: pictures.openOutbound });
    const id = await keep('ada', goodHtml({ more: '<img src="https://x.test/b.png" alt="">' }));
    const url = `${await looking.url()}/api/dashboard/projects/${scenario.projectId}/test-inbox/${id}/email.html?images=show`;
    const left = new AbortController();
    const pending = Promise.allSettled([
      fetch(url, { headers: { 'x-test-role': 'viewer' }, signal: left.signal }),
    ]);
    while (pictures.begun.length === 0) await setImmediate();
    left.abort();
    await pending;
    while (pictures.open() > 0) await setImmediate();
    await looking.close();
  });
});

test('fetches the visible images of an email, but not its tracking pixel', async () => {
  const urls: string[] = [];
  const openOutbound = () => ({
    ...testMail().openOutbound(),
    get: ({ url }: { url: string }) => {
      urls.push(url);
      const file = { type: 'image/png', bytes: Buffer.from('png') };
      return Promise.resolve({ ok: true as const, status: 200, body: '', truncated: false, file });
    },
  });
  const looking = testDashboard(db, { openOutbound: openOutbound as never });
  const token = `${'a'.repeat(34)}.${'b'.repeat(16)}`;
  const pixel = `<img src="https://acme.test/o/${token}.gif" width="1">`;
  const id = await keep('ada', goodHtml({ more: `<img src="https://x.test/b.png" alt="">${pixel}` }));
  const path = `GET /projects/${scenario.projectId}/test-inbox/${id}`;
  const hidden = await looking.request(`${path}/email.html`);
  expect([hidden.text.includes('https://x.test/b.png'), urls]).toEqual([true, []]);
  const page = await looking.request(`${path}/email.html?images=show&scheme=dark`);
  expect(urls).toEqual(['https://x.test/b.png']);
  expect(page.text).toContain(`data:image/png;base64,${Buffer.from('png').toString('base64')}`);
  expect(page.text).not.toContain('/o/');
  expect((await looking.request<TestInboxEmailWhole>(path)).json.data.remote_images).toBe(1);
  expect((await looking.request(`${path}/email.html?images=all`)).json.errors[0]?.field).toBe('images');
  await looking.close();
});

test('shows an email with its checks, its headers, its source and its file', async () => {
  const https = '<img src="https://x.test/b.png" alt="">';
  const id = await keep('ada', goodHtml({ more: `<img src="http://x.test/a.png">${https}` }));
  const { data } = (await request<TestInboxEmailWhole>(`GET /test-inbox/${id}`, { as: 'viewer' })).json;
  expect(data).toMatchObject({
    subject: 'Three steps are left',
    from: 'Acme <hello@acme.test>',
    has_html: true,
    remote_images: 1,
  });
  expect(data.text).toContain('Hello Ada');
  expect(data.headers).toContainEqual(expect.objectContaining({ name: 'list-unsubscribe-post' }));
  const images = data.checks.find(({ name }) => name === 'images');
  expect(images).toMatchObject({
    status: 'warning',
    detail: expect.arrayContaining(['http://x.test/a.png']),
  });
  const { data: raw } = (
    await request<{ source: string; truncated: boolean }>(`GET /test-inbox/${id}/source`)
  ).json;
  expect([raw.source.includes('Subject: Three steps'), raw.truncated]).toEqual([true, false]);
  expect((await request(`GET /test-inbox/${id}/eml`)).text).toBe(raw.source);
  const frame = await request(`GET /test-inbox/${id}/email.html`);
  expect(frame.headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'/);
  expect(frame.text).toContain('Hello Ada');
});

test('returns 404 for emails of another project and for unknown ones', async () => {
  const [id, reply] = [await keep(), await addReply()];
  const { id: other } = await createProject(db, { name: `Other ${scenario.projectId}` });
  const paths = ['', '/email.html', '/source', '/eml', '?copy=2'].map((more) => `/test-inbox/${id}${more}`);
  for (const path of [...paths, `/replies/${reply}`])
    expect((await dashboard.request(`GET /projects/${other}${path}`)).status, path).toBe(404);
  for (const path of [`/test-inbox/${id}?copy=2`, '/test-inbox/nothing', '/replies/nothing'])
    expect((await request(`GET ${path}`)).status, path).toBe(404);
  expect((await request(`GET /test-inbox/${id}?copy=x`)).json.errors[0]?.field).toBe('copy');
  expect((await dashboard.request(`GET /projects/${other}/replies`)).json.data).toEqual([]);
});

test('clears the test inbox for an admin who types the name of the project', async () => {
  await keep();
  const [row] = await db.query<{ name: string }>('SELECT name FROM beckon.project WHERE project_id = $1', [
    scenario.projectId,
  ]);
  const confirm = row?.name ?? '';
  expect((await request('POST /test-inbox/clear', { body: { confirm }, as: 'editor' })).status).toBe(403);
  const wrong = await request('POST /test-inbox/clear', { body: { confirm: 'x' } });
  expect([wrong.status, wrong.json.errors[0]?.field]).toEqual([422, 'confirm']);
  expect((await request('POST /test-inbox/clear', { body: { confirm }, as: 'admin' })).json.data).toEqual({
    cleared: 1,
  });
  expect((await request('GET /test-inbox')).json.data).toEqual([]);
});

describe('POST /test-inbox/clear', () => {
  test('with `older` keeps emails that are not older than that', async () => {
    await keep();
    await scenario.later(2 * 86_400_000);
    const kept = await keep();
    const [row] = await db.query<{ name: string }>('SELECT name FROM beckon.project WHERE project_id = $1', [
      scenario.projectId,
    ]);
    const clear = (older: string) =>
      request('POST /test-inbox/clear', { body: { confirm: row?.name ?? '', older }, as: 'admin' });
    const wrong = await clear('soon');
    expect([wrong.status, wrong.json.errors[0]?.field]).toEqual([422, 'older']);
    expect((await clear('1d')).json.data).toEqual({ cleared: 1 });
    expect((await request<TestInboxEmail[]>('GET /test-inbox')).json.data.map(({ id }) => id)).toEqual([
      kept,
    ]);
  });
});

test('lists replies newest first, and shows each with its email and the other replies to it', async () => {
  const emailId = newId();
  const hostile = '<img src=x onerror=alert(1)>'.repeat(30);
  const first = await addReply({ emailId, text: hostile });
  const second = await addReply({
    emailId,
    kind: 'auto_reply',
    verified: 'token',
    forwardAt: null,
    raw: null,
  });
  const other = await addReply({ userId: 'bob' });
  const all = (await request<ReplyListed[]>('GET /replies', { as: 'viewer' })).json;
  expect(all.data.map(({ id }) => id)).toEqual([other, second, first]);
  expect(all.data.at(-1)?.text).toBe(hostile.slice(0, 300));
  expect((await request<ReplyListed[]>('GET /replies?user=bob')).json.data.map(({ id }) => id)).toEqual([
    other,
  ]);
  const { data } = (await request<ReplyThread>(`GET /replies/${second}`)).json;
  expect(data).toMatchObject({
    reply: { id: second, auto_reply: true, verified: 'token', forward: 'none' },
    email: null,
    thread: [{ id: first, text: hostile, forward: 'waiting' }, { id: second }],
    forward_to: null,
  });
});

test('forwards a reply again for a reviewer, if there is a recipient and its sender is not forged', async () => {
  const id = await addReply({ forwardAt: null });
  const forward = (reply: string, as: DashboardRequestOptions['as'] = 'reviewer') =>
    request(`POST /replies/${reply}/forward`, { as });
  expect((await forward(id, 'viewer')).status).toBe(403);
  const withoutAddress = await forward(id);
  expect([withoutAddress.status, withoutAddress.json.errors[0]?.message]).toEqual([
    409,
    expect.stringContaining('reply_forward_to'),
  ]);
  await scenario.set({ reply_forward_to: 'team@acme.test' });
  expect((await forward(id)).json.data).toEqual({ id, forward_at: new Date(scenario.now()).toISOString() });
  expect((await request<ReplyThread>(`GET /replies/${id}`)).json.data.reply.forward).toBe('waiting');
  // A reviewer can judge better whether it is automatic.
  expect((await forward(await addReply({ kind: 'auto_reply' }))).status).toBe(200);
  expect((await forward(await addReply({ verified: 'failed' }))).status).toBe(409);
  expect((await forward(newId())).status).toBe(404);
});
