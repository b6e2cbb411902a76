import { beforeEach, describe, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { openEngine } from '../../../testing/factories/engine.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { testSendServices, testRenderer } from '../../../testing/factories/send-services.ts';
import { idMaker } from '../../platform/ids.ts';
import { approve } from '../review/approve-draft.ts';
import type { Draft } from '../drafts/draft.ts';
import { edit } from '../drafts/edit-draft.ts';
import { listDrafts, lockDraft } from '../drafts/reads.ts';
import { orThrow } from '../drafts/refusals.ts';
import { writeTransitions } from '../drafts/store.ts';
import { createProject } from '../administration/create-project.ts';
import { createRule, editRule } from '../rules/write-rule.ts';
import { moveDraft } from '../review/move-draft.ts';
import { setSettings } from '../administration/set-settings.ts';
import { createTemplate, deleteTemplate, editTemplate } from './write-template.ts';
import { listEmails, showEmail } from './show-templates.ts';
import { previewEmail } from './preview-email.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const GREETING = { name: 'greeting', subject: 'Hello', body: 'Hello {{ user.name | default: "there" }}' };
const PAGE = `<mjml><mj-body><mj-section><mj-column><mj-text>Dear {{ user.name | default: "friend" }} <a href="https://app.example/{{ user.id | default: "x" }}">go</a></mj-text></mj-column></mj-section></mj-body></mjml>`;

let projectId = 0;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
  await setSettings(db, projectId, { quiet_hours: 'off', frequency_cap: 'off' });
});

const create = (document: object = {}) =>
  createTemplate(
    { db, renderer: testRenderer },
    { projectId, document: { ...GREETING, ...document }, follow: true, actor: 'ann' },
  );
const update = (document: object, { follow = true, reference = 'greeting' } = {}) =>
  editTemplate({ db, renderer: testRenderer }, { projectId, reference, document, follow, actor: 'bob' });
const rule = (document: object = {}) =>
  createRule(db, {
    projectId,
    document: { name: 'greeter', when: { event: 'hello' }, steps: [{ draft: 'greeting' }], ...document },
  });

async function send(name: string, ...ids: string[]): Promise<void> {
  const users = ids.map((id) => ({
    external_user_id: id,
    email: `${id}@x.example`,
    traits: { name: id.toUpperCase() },
  }));
  await putRecords(db, { projectId, kind: 'users', records: users });
  await engine.settle();
  const events = ids.map((id) => ({ external_user_id: id, name, properties: { plan: 'pro' } }));
  await putRecords(db, { projectId, kind: 'events', records: events });
  await engine.settle();
}

function draftsOf(): Promise<Draft[]> {
  return listDrafts(db, { projectId, state: null, ruleId: null, userId: null, after: null, limit: 100 });
}

async function draftOf(userId: string): Promise<Draft> {
  const draft = (await draftsOf()).find((candidate) => candidate.userId === userId);
  if (!draft) throw new Error(`there is no draft for ${userId}`);
  return draft;
}

async function move(draft: Draft, change: (locked: Draft) => ReturnType<typeof approve>): Promise<void> {
  await db.transaction(async (tx) => {
    const locked = await lockDraft(tx, projectId, draft.id);
    if (locked) await writeTransitions(tx, [orThrow(change(locked))]);
  });
}

const editedContent = { subject: 'Mine', preheader: '', body: 'By hand', format: 'markdown' } as const;

describe('templates of a project', () => {
  test('are found by the rules that name them, and replace a shipped template of the same name', async () => {
    await expect(rule()).rejects.toMatchObject({ details: [{ field: 'steps.0.draft' }] });
    await create();
    await rule();
    await send('hello', 'ada');
    // The processor has loaded the project's templates by now, and has to notice a new one.
    await create({ name: 'welcome', subject: 'Our own welcome' });
    await send('user_signed_up', 'bob');
    expect((await draftOf('ada')).content).toEqual({ ...editedContent, subject: 'Hello', body: 'Hello ADA' });
    expect((await draftOf('bob')).content.subject).toBe('Our own welcome');
    await expect(rule({ name: 'other', steps: [{ draft: 'nothing' }] })).rejects.toThrow(
      'trial_expiring, greeting, or write the email there',
    );
  });

  test('in MJML are rendered as a page, with the values of users as text', async () => {
    await create({ format: 'mjml', body: PAGE });
    await rule();
    await send('hello', '<ada>');
    const { content } = await draftOf('<ada>');
    expect(content.format).toBe('html');
    expect(content.body).toContain('Dear &lt;ADA&gt; <a href="https://app.example/x">');
  });

  test('in MJML are edited as a page, and only permitted HTML is kept', async () => {
    await create({ format: 'mjml', body: PAGE });
    await rule();
    await send('hello', 'ada');
    const { id: draftId, content } = await draftOf('ada');
    const body = content.body.replace('Dear', '<script>x()</script><b onclick="x()">Dearest</b>');
    const deps = { db, newId: idMaker(clock), sendServices: testSendServices() };
    const write = (changed: Draft['content']) =>
      moveDraft(
        deps,
        { projectId, draftId },
        { act: { kind: 'edit', content: changed }, by: { actor: 'ann' } },
      );
    await expect(write({ ...content, format: 'markdown' })).rejects.toMatchObject({
      details: [{ field: 'format' }],
    });
    expect((await write({ ...content, body })).draft.content.body).toContain('><b>Dearest</b> ADA <a href=');
    expect((await draftOf('ada')).content.body).not.toMatch(/<script|onclick/);
  });

  test('have versions that never change, publish the newest, and get none for the same content', async () => {
    const { template } = await create();
    expect(await update({ body: 'New' })).toMatchObject({
      template: { version: 2 },
      version: { subject: 'Hello', createdBy: 'bob' },
    });
    expect((await update({ body: 'New' })).template.version).toBe(2);
    await update({ format: 'mjml', body: PAGE }, { reference: template.id });
    const { versions, email } = await showEmail(
      { db, renderer: testRenderer },
      { projectId, reference: 'greeting', now: clock.now() },
    );
    expect(versions.map(({ version, format, body }) => [version, format, body])).toEqual([
      [3, 'mjml', PAGE],
      [2, 'markdown', 'New'],
      [1, 'markdown', GREETING.body],
    ]);
    expect(email.format).toBe('html');
  });

  test('are rejected without a change if they cannot be rendered, or if their name is missing or taken', async () => {
    await create();
    const messages: unknown[] = [];
    for (const change of [
      () => create(),
      () => create({ name: undefined }),
      () => create({ name: '01900000-0000-7000-8000-000000000000' }),
      () => create({ name: 'x', body: undefined }),
      () => create({ name: 'x', color: 'red' }),
      () => create({ name: 'x', format: 'html' }),
      () => update({ body: '{{ account.x }}' }),
      () => update({ name: 'other' }),
      () => update({ body: 'x' }, { reference: 'nothing' }),
    ])
      messages.push(
        await change().then(
          () => 'accepted',
          (error: Error) => error.message,
        ),
      );
    expect(messages).toMatchInlineSnapshot(`
      [
        "name is taken: another template of the project has the name "greeting"",
        "name must be a string",
        "name must not look like an id",
        "body must be a string",
        "color is unknown here. Use name, format, subject, preheader, body",
        "format must be markdown or mjml",
        "body: line 1, column 4: "account" is unknown. Use user, event, project, run",
        "name cannot change from "greeting": rules refer to the template by it",
        "The project has no template of its own with the ID or name "nothing". List the templates with: beckon templates list",
      ]
    `);
    expect(
      (
        await showEmail(
          { db, renderer: testRenderer },
          { projectId, reference: 'greeting', now: clock.now() },
        )
      ).versions,
    ).toHaveLength(1);
  });

  test('are not overwritten by an edit that another member has overtaken', async () => {
    await create();
    const slow = editTemplate(
      {
        db: { ...db, transaction: async (work) => (await update({ body: 'First' })) && db.transaction(work) },
        renderer: testRenderer,
      },
      { projectId, reference: 'greeting', document: { body: 'Second' }, follow: true, actor: 'cyd' },
    );
    await expect(slow).rejects.toMatchObject({
      code: 'conflict',
      details: [{ message: expect.stringContaining('bob') as string }],
    });
  });

  test('are deleted when no rule names them, and then give way to a shipped template of the same name', async () => {
    await create();
    await create({ name: 'welcome', subject: 'Our own' });
    await rule();
    const remove = (reference: string) => deleteTemplate(db, { projectId, reference, actor: 'ann' });
    await expect(remove('greeting')).rejects.toThrowErrorMatchingInlineSnapshot(
      `[Fault: "greeting" cannot be deleted: the rule "greeter" refers to it]`,
    );
    await send('hello', 'ada');
    const other = { draft: { subject: 'a', body: 'b' } };
    const document = { name: 'greeter', when: { event: 'hello' }, steps: [other] };
    await editRule(db, { projectId, reference: 'greeter', document, includeOpen: false, actor: 'ann' });
    await expect(remove('greeting')).rejects.toThrowErrorMatchingInlineSnapshot(
      `[Fault: "greeting" cannot be deleted: the rule "greeter" refers to it, in an older version with active runs]`,
    );
    await send('user_signed_up', 'bob');
    expect(await remove('welcome')).toMatchObject({ template: { name: 'welcome' }, drafts: 1 });
    expect((await draftOf('bob')).content.subject).toBe('Welcome to Acme');
  });
});

describe('a new version of a template', () => {
  test('refreshes untouched drafts, with time left to review them, but no edited or approved ones', async () => {
    await create();
    await rule({ mode: 'autopilot', deadline: '2h' });
    await send('hello', 'ada', 'bob', 'cyd');
    const by = { actor: 'ann', now: clock.now() };
    await move(await draftOf('bob'), (draft) => edit(draft, editedContent, by));
    await move(await draftOf('cyd'), (draft) => approve(draft, by));
    clock.advance(2 * HOUR_MS - MINUTE_MS);
    expect((await update({ subject: 'Hello again' })).drafts).toBe(1);
    const [ada, bob, cyd] = await Promise.all(['ada', 'bob', 'cyd'].map(draftOf));
    expect(ada).toMatchObject({
      state: 'scheduled',
      content: { subject: 'Hello again' },
      deadlineAt: clock.now() + 15 * MINUTE_MS,
    });
    expect(bob?.content).toEqual(editedContent);
    expect(cyd).toMatchObject({ state: 'approved', content: { subject: 'Hello' } });
  });

  test('leaves drafts unchanged on request, and affects only those of its template', async () => {
    await create();
    await create({ name: 'other' });
    await rule();
    await rule({ name: 'second', steps: [{ draft: 'other' }, { draft: 'greeting' }] });
    await send('hello', 'ada');
    expect((await update({ subject: 'Kept' }, { follow: false })).drafts).toBe(0);
    expect((await draftsOf()).map(({ content }) => content.subject)).toEqual(['Hello', 'Hello']);
    expect((await update({ subject: 'New' })).drafts).toBe(1);
    expect((await draftsOf()).map(({ content }) => content.subject).toSorted()).toEqual(['Hello', 'New']);
  });

  test('holds drafts with a missing value and names the variable, and a version without it releases them', async () => {
    await create();
    await rule({ mode: 'autopilot', deadline: '2h' });
    await send('hello', 'ada');
    await update({ body: 'Hello {{ user.town }}' });
    expect(await draftOf('ada')).toMatchObject({
      state: 'held',
      reason: 'missing_variable',
      facts: { 'user.town': null },
    });
    await update({ body: 'Hello {{ user.town | default: "you" }}' });
    expect(await draftOf('ada')).toMatchObject({ state: 'scheduled', content: { body: 'Hello you' } });
  });
});

describe('listEmails and showEmail', () => {
  test('return where templates come from and which rules use them', async () => {
    const { template } = await create();
    await create({ name: 'welcome' });
    await rule();
    const listed = await listEmails(db, { projectId, now: clock.now() });
    expect(
      listed.map(({ name, template: row, isShipped, usedBy }) => [
        name,
        row?.version ?? null,
        isShipped,
        usedBy,
      ]),
    ).toEqual([
      ['greeting', 1, false, ['greeter']],
      ['onboarding_stall', null, true, ['onboarding_stall']],
      ['plan_limit_upsell', null, true, ['plan_limit_upsell']],
      ['trial_expiring', null, true, ['trial_expiring']],
      ['welcome', 1, true, ['welcome']],
    ]);
    expect(listed[0]?.template).toEqual(template);
  });

  test('return the variables of a template, the share of users who have them, whether they are required, and others', async () => {
    const body =
      '{{ user.name }} {{ user.town | default: "x" }}{% if event.plan %}{{ event.plan }}{% endif %} {{ user.email }}';
    await create({ body });
    await send('hello', 'ada', 'bob');
    const records = [
      { external_user_id: 'cyd', traits: { town: 'Turin', name: '' } },
      { external_user_id: 'dan', traits: { town: '', size: 3 } },
    ];
    await putRecords(db, { projectId, kind: 'users', records });
    await engine.settle();
    const view = await showEmail(
      { db, renderer: testRenderer },
      { projectId, reference: 'greeting', now: clock.now() },
    );
    expect(view.people).toBe(4);
    expect(view.variables).toEqual([
      { name: 'user.name', required: true, share: 0.5, events: [] },
      { name: 'user.town', required: false, share: 0.25, events: [] },
      { name: 'event.plan', required: false, share: null, events: ['hello'] },
      { name: 'user.email', required: true, share: 0.5, events: [] },
    ]);
    expect(view.others).toEqual([{ name: 'user.size', share: 0.25 }]);
  });
});

describe('previewEmail', () => {
  const preview = (more: object = {}) =>
    previewEmail(
      { db, renderer: testRenderer },
      {
        projectId,
        now: clock.now(),
        reference: 'welcome',
        document: null,
        userId: null,
        ...more,
      },
    );

  test('fills in every variable for a sample user', async () => {
    for (const { name } of await listEmails(db, { projectId, now: clock.now() })) {
      const { missing, warnings: troubles, text, userId } = await preview({ reference: name });
      expect({ missing, troubles, userId }).toEqual({ missing: [], troubles: [], userId: 'sample' });
      expect(text).toContain('Hi Ada,');
      expect(text).toContain('Unsubscribe or manage email preferences [');
    }
    await create({ body: '{{ user.shoe_size }} {{ event.color }}' });
    expect((await preview({ reference: 'greeting' })).content.body).toBe('shoe_size color');
  });

  test('renders for a user with their newest matching event, and lists missing values', async () => {
    await setSettings(db, projectId, { postal_address: 'High Street 1' });
    await create({ body: 'Hi {{ user.name }}, {{ event.plan }} {{ user.town }}' });
    await rule();
    await send('hello', 'ada');
    await send('later', 'ada');
    expect(await preview({ reference: 'greeting', userId: 'ada' })).toMatchObject({
      content: { body: 'Hi ADA, pro' },
      missing: ['user.town'],
      event: 'hello',
      text: expect.stringContaining('High Street 1') as string,
    });
    await expect(preview({ userId: 'unknown' })).rejects.toThrowErrorMatchingInlineSnapshot(
      `[Fault: This project has no user "unknown"]`,
    );
  });

  test('renders an unpublished document and stores nothing', async () => {
    await create();
    const change = { reference: 'greeting', document: { body: 'Not yet' } };
    expect((await preview(change)).content).toEqual({ ...editedContent, subject: 'Hello', body: 'Not yet' });
    expect((await preview({ document: { subject: 'Our {{ user.name }}' } })).content.subject).toBe('Our Ada');
    const alone = { subject: 'a', format: 'mjml', body: PAGE };
    expect((await preview({ reference: null, document: alone })).text).toMatch(
      /^Dear Ada go \[https:\/\/app\.example\/id\]/,
    );
    expect(
      (
        await showEmail(
          { db, renderer: testRenderer },
          { projectId, reference: 'greeting', now: clock.now() },
        )
      ).versions,
    ).toHaveLength(1);
  });
});
