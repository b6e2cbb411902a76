import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type {
  EmailSource,
  TemplateListed,
  TemplatePreview,
  TemplatePublished,
  TemplateDetails,
} from '@beckon/contract/dashboard';
import { type DashboardRequestOptions, testDashboard } from '../../../testing/servers/dashboard.ts';
import { newScenario, openStage, type Scenario } from '../../../testing/scenario.ts';

const stage = await openStage();
const submitted: { to: string; mime: string }[] = [];
const dashboard = testDashboard(stage.server.db, {
  openRelay: () =>
    Promise.resolve({
      submit: (envelope: { to: string }, mime: Uint8Array) => {
        submitted.push({ to: envelope.to, mime: Buffer.from(mime).toString() });
        return Promise.resolve({ result: 'sent', reply: '250 kept' } as never);
      },
    }),
});
afterAll(() => dashboard.close());

let scenario: Scenario;
beforeEach(async () => {
  scenario = await newScenario(stage);
  await scenario.set({ quiet_hours: 'off' });
});

type TestResponse<T> = {
  status: number;
  data: T;
  errors: { code: string; message: string; field?: string }[];
};
async function request<T>(what: string, options: DashboardRequestOptions = {}): Promise<TestResponse<T>> {
  const [method, path = ''] = what.split(' ');
  const { status, json } = await dashboard.request(
    `${method} /projects/${scenario.projectId}${path}`,
    options,
  );
  return { status, data: json?.data as T, errors: json?.errors ?? [] };
}
const email = (more: Partial<EmailSource> = {}): EmailSource => ({
  format: 'markdown',
  subject: 'Hello {{ user.name | default: "there" }}',
  preheader: '',
  body: 'You are on {{ user.plan }}.',
  ...more,
});
const create = (name = 'greeting', more: Partial<EmailSource> = {}) =>
  request<TemplatePublished>('POST /templates', { body: { name, source: email(more) } });
const save = (name: string, more: Partial<EmailSource>, seen: string | null = null) =>
  request<TemplateDetails>(`PUT /templates/${name}/unpublished`, { body: { source: email(more), seen } });
async function drafted(...users: string[]): Promise<void> {
  await scenario.rule({
    name: 'greeter',
    mode: 'draft',
    when: { event: 'hello' },
    steps: [{ draft: 'greeting' }],
  });
  for (const user of users) {
    await scenario.user(user, { email: `${user}@x.org`, traits: { name: user.toUpperCase(), plan: 'pro' } });
    await scenario.event(user, 'hello');
  }
  await stage.engine.settle();
}

test('lists templates with their uses, including built-in and unpublished ones', async () => {
  await create();
  await drafted();
  await save('plans', { subject: 'Plans' });
  const { data } = await request<TemplateListed[]>('GET /templates', { as: 'viewer' });
  expect(
    data.map(({ name, version, is_shipped, has_unpublished }) => [
      name,
      version,
      is_shipped,
      has_unpublished,
    ]),
  ).toEqual([
    ['greeting', 1, false, false],
    ['onboarding_stall', null, true, false],
    ['plan_limit_upsell', null, true, false],
    ['plans', null, false, true],
    ['trial_expiring', null, true, false],
    ['welcome', null, true, false],
  ]);
  expect(data[0]).toMatchObject({ subject: email().subject, used_by: [{ name: 'greeter' }] });
});

test('sends no unpublished version, and updates open drafts on publishing only on request', async () => {
  await create();
  await drafted('ada', 'bob');
  await scenario.act('bob', { kind: 'approve' });
  const words = email({ subject: 'Welcome {{ user.name | default: "you" }}' });
  const saved = await save('greeting', words);
  expect(saved.data).toMatchObject({
    version: 1,
    open_untouched: 1,
    unpublished: { subject: words.subject, saved_by: 'Ada' },
    published: { subject: email().subject },
  });
  expect((await scenario.drafts('ada'))[0]?.content.subject).toBe('Hello ADA');
  const publish = (more: object) =>
    request<TemplatePublished>('POST /templates/greeting/publish', {
      body: { source: words, version: 1, seen: saved.data.unpublished?.saved_at, follow: true, ...more },
    });
  expect((await publish({ follow: false })).data).toMatchObject({
    drafts: 0,
    template: { version: 2, unpublished: null },
  });
  expect((await scenario.drafts('ada'))[0]?.content.subject).toBe('Hello ADA');
  const late = await publish({});
  expect([late.status, late.errors]).toMatchInlineSnapshot(`
    [
      409,
      [
        {
          "code": "conflict",
          "field": "template",
          "message": "Another member published version 2 of the template "greeting". Load that version first",
        },
      ],
    ]
  `);
  const other = email({ subject: 'Good day' });
  expect((await publish({ version: 2, source: other })).data.drafts).toBe(1);
  expect((await scenario.drafts('ada'))[0]?.content.subject).toBe('Good day');
  expect((await scenario.drafts('bob'))[0]?.content.subject).toBe('Hello BOB');
  const { data } = await request<TemplateDetails>('GET /templates/greeting');
  expect(data.versions.map(({ version, created_by }) => [version, created_by])).toEqual([
    [3, 'Ada'],
    [2, 'Ada'],
    [1, 'Ada'],
  ]);
});

test('makes a built-in template the project’s own by publishing, and restores it by deleting', async () => {
  const body = { source: email({ body: 'Ours.' }), version: null, seen: null, follow: false };
  const made = await request<TemplatePublished>('POST /templates/welcome/publish', { body: body });
  expect(made.data.template).toMatchObject({ version: 1, is_shipped: true, published: { body: 'Ours.' } });
  expect((await request('DELETE /templates/welcome', { body: {} })).status).toBe(200);
  const { data } = await request<TemplateDetails>('GET /templates/welcome');
  expect([data.version, data.versions]).toEqual([null, []]);
  expect(data.published.body).not.toBe('Ours.');
});

test('refuses to delete a template that a rule uses, and names the rule', async () => {
  await create();
  await drafted();
  const refused = await request('DELETE /templates/greeting', { body: {} });
  expect([refused.status, refused.errors[0]?.message]).toEqual([
    422,
    expect.stringContaining('"greeter"') as string,
  ]);
});

test('previews the email as it would be sent, with its send check and its errors', async () => {
  await create();
  await drafted('ada');
  await scenario.user('eve', { email: 'eve@x.org', traits: {} });
  await stage.engine.settle();
  const preview = (body: object) =>
    request<TemplatePreview>('POST /templates/greeting/preview', { body, as: 'viewer' });
  const made = await preview({});
  expect(made.data).toMatchObject({ is_sample: true, subject: 'Hello Ada', missing: [], preview_id: null });
  expect(made.data.checks.map(({ name }) => name)).toContain('contrast');
  expect((await preview({ user: 'ada' })).data).toMatchObject({
    external_user_id: 'ada',
    subject: 'Hello ADA',
    event: 'hello',
  });
  const held = (await preview({ user: 'eve' })).data;
  expect(held.missing).toEqual(['user.plan']);
  expect(held.variables).toEqual([
    { name: 'user.name', required: false, share: 0.5, events: [] },
    { name: 'user.plan', required: true, share: 0.5, events: [] },
  ]);
  expect((await preview({ user: 'unknown' })).status).toBe(404);
  const broken = (await preview({ source: email({ body: 'Hello {{ user.name' }) })).data;
  expect(broken.faults).toMatchObject([{ field: 'body' }]);
  expect(broken.preview_id).toBe(null);
});

test('keeps an error of a variable that was not filled in beside unknown variables, and drops its warning', async () => {
  await scenario.user('ada', { email: 'ada@x.org', traits: { name: 'Ada' } });
  await stage.engine.settle();
  const checksOf = async (body: string): Promise<[string, string][]> => {
    const { data } = await request<TemplatePreview>('POST /templates/greeting/preview', {
      body: { source: email({ body }) },
    });
    expect(data.faults).toEqual([]);
    return data.checks
      .filter(({ name }) => name === 'placeholders' || name === 'variables')
      .map(({ name, status }) => [name, status]);
  };
  const unknown = '{{ user.colour | default: "blue" }}';
  expect(await checksOf(`Hello {{ "{{" }} name }} ${unknown}`)).toEqual([
    ['placeholders', 'error'],
    ['variables', 'warning'],
  ]);
  expect(await checksOf(`Hello undefined ${unknown}`)).toEqual([['variables', 'warning']]);
  expect(await checksOf('Hello undefined')).toEqual([['placeholders', 'warning']]);
});

test("previews with the user's data as of a time, and names uncertain values", async () => {
  await create();
  await scenario.user('ada', { email: 'ada@x.org', traits: { name: 'ADA', plan: 'trial' } });
  await stage.engine.settle();
  const then = new Date(scenario.now() + 1_000).toISOString();
  await scenario.later(3_600_000);
  await drafted('ada');
  await scenario.user('ada', { traits: { name: 'Countess', plan: 'pro' } });
  await stage.engine.settle();
  const preview = (body: object) =>
    request<TemplatePreview>('POST /templates/greeting/preview', { body: { user: 'ada', ...body } });
  expect((await preview({})).data).toMatchObject({ subject: 'Hello Countess', event: 'hello' });
  const before = (await preview({ at: then })).data;
  expect(before).toMatchObject({ subject: 'Hello ADA', missing: [], uncertain: [] });
  expect(before.text).toContain('trial');
  const page = `GET /templates/greeting/email.html?user=ada&at=${encodeURIComponent(then)}`;
  expect((await dashboard.request(page.replace(' ', ` /projects/${scenario.projectId}`))).text).toContain(
    'trial',
  );
  for (const at of ['2020-01-01T00:00:00Z', 'soon', new Date(scenario.now() + 86_400_000).toISOString()]) {
    const refused = await preview({ at });
    expect([refused.status, refused.errors[0]?.field]).toEqual([422, 'at']);
  }
});

test('renders unpublished text as a page of its own, sandboxed', async () => {
  const body = 'Nothing *yet* for {{ user.name }} <script>alert(1)</script>';
  const words = email({ body });
  const { data } = await request<TemplatePreview>(
    'POST /templates/brand new/preview'.replace(' new', '%20new'),
    {
      body: { source: words },
    },
  );
  const path = `GET /projects/${scenario.projectId}/templates/brand%20new/email.html?preview_id=${data.preview_id}`;
  const page = await dashboard.request(path, { as: 'viewer' });
  expect(page.status).toBe(200);
  expect(page.headers['content-security-policy']).toContain("sandbox; default-src 'none'");
  expect(page.headers['content-type']).toContain('text/html');
  expect(page.text).toContain('Nothing <em>yet</em> for Ada');
  expect(page.text).not.toContain('<script');
  stage.server.clock.advance(2 * 86_400_000);
  await request('POST /templates/other/preview', { body: { source: email({ subject: 'Other' }) } });
  expect((await dashboard.request(path, { as: 'viewer' })).status).toBe(404);
  expect((await request<TemplateListed[]>('GET /templates')).data.map(({ name }) => name)).not.toContain(
    'brand new',
  );
});

test('uses the locale of the user in previews and test emails, otherwise the language of the project', async () => {
  await create();
  await scenario.set({ language: 'fr' });
  await scenario.user('eva', { email: 'eva@x.org', traits: { plan: 'pro', locale: 'de_DE' } });
  await stage.engine.settle();
  const preview = async (body: object) =>
    (await request<TemplatePreview>('POST /templates/greeting/preview', { body })).data.text;
  expect(await preview({ user: 'eva' })).toContain('Sie erhalten diese E-Mail');
  expect(await preview({})).toContain('Vous recevez cet e-mail');
  const page = `GET /projects/${scenario.projectId}/templates/greeting/email.html?user=eva`;
  expect((await dashboard.request(page)).text).toContain('<html lang="de-DE" dir="ltr" ');
  await request('POST /templates/greeting/send-test', { body: {} });
  expect(submitted.at(-1)?.mime).toContain('Vous recevez cet e-mail');
});

test('sends a test email to the member who requests it, with sample data', async () => {
  await create();
  const sent = await request<{ to: string; subject: string }>('POST /templates/greeting/send-test', {
    body: {},
  });
  expect(sent.data).toMatchObject({ to: 'ada@x.org', subject: '[Test] Hello Ada' });
  expect(submitted.at(-1)?.to).toBe('ada@x.org');
  expect(submitted.at(-1)?.mime).toContain('[Test] Hello Ada');
  const odd = await request('POST /templates/greeting/send-test', { body: { to: 'no address' } });
  expect([odd.status, odd.errors[0]?.field]).toEqual([422, 'to']);
});

describe('the saved unpublished version', () => {
  test('is previewed and sent as a test with `unpublished`', async () => {
    await create();
    await save('greeting', email({ subject: 'Unpublished' }));
    const preview = (body: object) =>
      request<TemplatePreview>('POST /templates/greeting/preview', { body }).then(({ data }) => data.subject);
    expect([await preview({}), await preview({ unpublished: true })]).toEqual(['Hello Ada', 'Unpublished']);
    const sent = await request<{ subject: string }>('POST /templates/greeting/send-test', {
      body: { unpublished: true },
    });
    expect(sent.data.subject).toBe('[Test] Unpublished');
  });

  test('is published by a request without `source`, and is deleted by that', async () => {
    await create();
    const publish = (body: object = {}) =>
      request<TemplatePublished>('POST /templates/greeting/publish', { body });
    const none = await publish();
    expect([none.status, none.errors]).toMatchInlineSnapshot(`
      [
        404,
        [
          {
            "code": "not_found",
            "field": "template",
            "message": "The template "greeting" has no unpublished version",
          },
        ],
      ]
    `);
    await save('greeting', email({ subject: 'Unpublished' }));
    expect((await publish({ version: 7 })).status).toBe(409);
    expect((await publish()).data.template).toMatchObject({
      version: 2,
      unpublished: null,
      published: { subject: 'Unpublished' },
    });
  });
});

test('refuses changes by a viewer, returns 404 in another project, and reports render errors at their place', async () => {
  await create();
  for (const [what, body] of [
    ['POST /templates', { name: 'x', source: email() }],
    ['PUT /templates/greeting/unpublished', { source: email(), seen: null }],
    ['DELETE /templates/greeting/unpublished', {}],
    ['POST /templates/greeting/publish', { source: email(), version: 1, seen: null, follow: false }],
    ['POST /templates/greeting/send-test', {}],
    ['DELETE /templates/greeting', {}],
  ] as const)
    expect([what, (await request(what, { body, as: 'reviewer' })).status]).toEqual([what, 403]);
  const other = await newScenario(stage);
  const otherPath = `/projects/${other.projectId}/templates/greeting`;
  expect((await dashboard.request(`GET ${otherPath}`)).status).toBe(404);
  expect((await dashboard.request(`GET ${otherPath}/email.html`)).status).toBe(404);
  const wrong = await create('other', { subject: '', body: '{{ people.name }}' });
  expect([wrong.status, wrong.errors.map(({ field }) => field)]).toEqual([422, ['subject', 'body']]);
  expect((await create()).errors[0]?.field).toBe('name');
  expect((await save('greeting', { subject: 'x'.repeat(2_000) })).errors[0]?.field).toBe('subject');
});

test('discards an unpublished version', async () => {
  await create();
  await save('greeting', { subject: 'Later' });
  const { data } = await request<TemplateDetails>('DELETE /templates/greeting/unpublished', { body: {} });
  expect([data.unpublished, data.has_unpublished]).toEqual([null, false]);
  expect((await request<TemplateDetails>('GET /templates/greeting')).data.unpublished).toBe(null);
});

test("refuses to overwrite another member's version unseen, and publishing deletes only the seen version", async () => {
  await create();
  const first = await save('greeting', { subject: 'First' });
  const seen = first.data.unpublished?.saved_at ?? null;
  stage.server.clock.advance(1_000);
  const second = await save('greeting', { subject: 'Second' }, seen);
  expect(second.data.unpublished?.subject).toBe('Second');
  for (const old of [seen, null]) {
    const late = await save('greeting', { subject: 'Late' }, old);
    expect([late.status, late.errors[0]?.field]).toEqual([409, 'seen']);
  }
  const published = await request<TemplatePublished>('POST /templates/greeting/publish', {
    body: { source: email({ subject: 'Late' }), version: 1, seen, follow: false },
  });
  expect(published.data.template).toMatchObject({ version: 2, unpublished: { subject: 'Second' } });
  await request('DELETE /templates/greeting/unpublished', { body: {} });
  // The version that this text was based on is deleted, on purpose.
  expect((await save('greeting', { subject: 'Late' }, second.data.unpublished?.saved_at)).status).toBe(409);
});
