import { afterAll, describe, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { costlyBody } from '../../../../testing/factories/costly-inputs.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import { type Engine, openEngine } from '../../../../testing/factories/engine.ts';
import { putRecords } from '../../../../testing/factories/ingest-queue.ts';
import { testSendServices, testRenderer, testHasher } from '../../../../testing/factories/send-services.ts';
import { idMaker } from '../../../platform/ids.ts';
import { silentLog } from '../../../platform/log.ts';
import type { Draft } from '../../drafts/draft.ts';
import { listDrafts } from '../../drafts/reads.ts';
import { createWorkerPool } from '../../../platform/threads/worker-pool.ts';
import { createProject } from '../../administration/create-project.ts';
import { createRule } from '../../rules/write-rule.ts';
import { createProcessor } from '../../processing/process.ts';
import { moveDraft } from '../../review/move-draft.ts';
import { setSettings } from '../../administration/set-settings.ts';
import { createTemplate, editTemplate } from '../../templates/write-template.ts';
import { previewEmail } from '../../templates/preview-email.ts';
import { createRenderer, isQuick } from './renderer.ts';
import type { RenderTasks } from './tasks.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);

const deps = { db, renderer: testRenderer };
/** Compares two lists from an event property 1,500 times. This is harmless while the property is short. */
const COMPARES = `{% assign a = event.text | split: "" %}{% assign b = event.text | split: "" %}{% for i in (1..100) %}{% if ${Array.from({ length: 15 }, () => 'a != b').join(' or ')} %}{% endif %}{% endfor %}Hello`;
const LONG = 'x'.repeat(3_000);

type Template = { name: string; body: string };

/** A project with a rule for each template, which starts with the event of that name. */
async function projectWith(...templates: Template[]): Promise<number> {
  const { id: projectId } = await createProject(db, { name: 'Acme' });
  await setSettings(db, projectId, {
    quiet_hours: 'off',
    frequency_cap: 'off',
    throttle: 'off',
    autopilot: '1h',
  });
  for (const { name, body } of templates) {
    const document = { name, subject: 'Hello', body };
    await createTemplate(deps, { projectId, document, follow: true, actor: 'ann' });
    const rule = { name, when: { event: name }, steps: [{ draft: name }] };
    await createRule(db, { projectId, document: rule });
  }
  return projectId;
}

type Happened = { userId: string; name: string; properties?: Record<string, unknown> };

async function put(projectId: number, events: Happened[]): Promise<void> {
  const users = [...new Set(events.map(({ userId }) => userId))].map((id) => ({
    external_user_id: id,
    email: `${id}@x.example`,
  }));
  await putRecords(db, { projectId, kind: 'users', records: users });
  const records = events.map(({ userId, name, properties = {} }) => ({
    external_user_id: userId,
    name,
    properties,
  }));
  await putRecords(db, { projectId, kind: 'events', records });
}

async function draftsOf(projectId: number): Promise<Map<string, Draft>> {
  const query = { projectId, state: null, ruleId: null, userId: null, after: null, limit: 100 };
  return new Map((await listDrafts(db, query)).map((draft) => [draft.userId, draft]));
}

const sentTo = (of: Engine, ...projectIds: number[]): string[] =>
  of.transport.emails
    .flatMap(({ projectId, userId }) => (projectIds.includes(projectId) ? [userId] : []))
    .toSorted();

describe('drafting', () => {
  test('holds a draft whose template takes too much work, and continues with other rules and projects', async () => {
    const projectId = await projectWith(
      { name: 'poisoned', body: COMPARES },
      { name: 'plain', body: 'Hello' },
    );
    const other = await projectWith({ name: 'plain', body: 'Hello' });
    await put(projectId, [
      { userId: 'ada', name: 'poisoned', properties: { text: LONG } },
      { userId: 'bea', name: 'plain' },
      { userId: 'cyd', name: 'poisoned', properties: { text: 'short' } },
    ]);
    await put(other, [{ userId: 'dan', name: 'plain' }]);
    await engine.settle();
    const drafts = await draftsOf(projectId);
    expect(drafts.get('ada')).toMatchObject({ state: 'held', reason: 'render_failed', dueAt: null });
    expect(drafts.get('ada')?.content.subject).toBe('Hello');
    expect(drafts.get('bea')?.state).toBe('scheduled');
    expect(drafts.get('cyd')).toMatchObject({ state: 'scheduled', content: { body: 'Hello' } });
    expect((await draftsOf(other)).get('dan')?.state).toBe('scheduled');
    await engine.advance(2 * HOUR);
    expect(sentTo(engine, projectId, other)).toEqual(['bea', 'cyd', 'dan']);
    expect((await draftsOf(projectId)).get('ada')).toMatchObject({ state: 'held', moves: 1 });
  });

  test('releases such a draft when its template or its text changes, and not by an approval', async () => {
    const projectId = await projectWith({ name: 'poisoned', body: COMPARES });
    const happened = { name: 'poisoned', properties: { text: LONG } };
    await put(projectId, [
      { userId: 'ada', ...happened },
      { userId: 'bea', ...happened },
    ]);
    await engine.settle();
    const drafts = await draftsOf(projectId);
    const ada = drafts.get('ada')?.id ?? '';
    const moving = { db, newId: idMaker(db.clock), sendServices: testSendServices() };
    const by = { actor: 'ana' };
    await expect(
      moveDraft(moving, { projectId, draftId: ada }, { act: { kind: 'approve' }, by }),
    ).rejects.toThrow('Rendering the email exceeded the rendering limit');
    const content = { subject: 'Hello', preheader: '', body: 'Hello Ada', format: 'markdown' } as const;
    await moveDraft(moving, { projectId, draftId: ada }, { act: { kind: 'edit', content }, by });
    expect((await draftsOf(projectId)).get('ada')).toMatchObject({ state: 'scheduled', isEdited: true });
    const document = { body: 'Hello {{ event.name }}' };
    await editTemplate(deps, { projectId, reference: 'poisoned', document, follow: true, actor: 'ann' });
    expect((await draftsOf(projectId)).get('bea')).toMatchObject({
      state: 'scheduled',
      content: { body: 'Hello poisoned' },
    });
  });

  test('retries when a fact about the user changes, and not with every event', async () => {
    const body = COMPARES.replaceAll('event.text', 'user.text');
    const projectId = await projectWith({ name: 'poisoned', body });
    await putRecords(db, {
      projectId,
      kind: 'users',
      records: [{ external_user_id: 'ada', email: 'ada@x.example', traits: { text: LONG } }],
    });
    await putRecords(db, {
      projectId,
      kind: 'events',
      records: [{ external_user_id: 'ada', name: 'poisoned', properties: {} }],
    });
    await engine.settle();
    expect((await draftsOf(projectId)).get('ada')).toMatchObject({ reason: 'render_failed', moves: 1 });
    await put(projectId, [{ userId: 'ada', name: 'seen' }]);
    await engine.settle();
    expect((await draftsOf(projectId)).get('ada')).toMatchObject({ reason: 'render_failed', moves: 1 });
    await putRecords(db, {
      projectId,
      kind: 'users',
      records: [{ external_user_id: 'ada', traits: { text: 'short' } }],
    });
    await engine.settle();
    expect((await draftsOf(projectId)).get('ada')).toMatchObject({
      state: 'scheduled',
      content: { body: 'Hello' },
    });
  });

  test('takes fewer records of a project whose template uses most of its budget, and holds none of them', async () => {
    const body = '{% for i in (1..9000) %}{% assign a = 1 %}{% endfor %}Hello';
    const projectId = await projectWith({ name: 'heavy', body });
    const other = await projectWith({ name: 'plain', body: 'Hello' });
    const people = Array.from({ length: 30 }, (_, at) => `u${at}`);
    await put(
      projectId,
      people.map((userId) => ({ userId, name: 'heavy' })),
    );
    await put(other, [{ userId: 'dan', name: 'plain' }]);
    const batches: number[] = [];
    const processor = createProcessor({
      db,
      log: silentLog,
      hasher: testHasher,
      newId: idMaker(db.clock),
      onBatch: ({ records }) => batches.push(records),
    });
    for (let records = 1; records > 0;)
      records =
        (await processor.batch('live', [projectId, other])).records +
        (await processor.batch('live', [other])).records;
    for (let count = 1; count > 0;)
      count = (await processor.timers(projectId)).people + (await processor.timers(other)).people;
    const drafts = [...(await draftsOf(projectId)).values()];
    expect(drafts.map(({ state }) => state)).toEqual(people.map(() => 'scheduled'));
    expect((await draftsOf(other)).get('dan')?.state).toBe('scheduled');
    expect(batches.length).toBeGreaterThan(4);
    expect(Math.max(...batches)).toBeLessThan(40);
  });
});

describe('sending', () => {
  const FILLER = 'word '.repeat(2_000);

  test('holds a draft whose rendering does not end, sends the others, and does not retry on its own', async () => {
    // The others have to be rendered within it, on a busy machine too.
    const renderer = createRenderer({ pool: loopingPool(), deadlineMs: 5_000 });
    afterAll(() => renderer.close());
    const sending = openEngine(db, clock, { sendServices: { renderer } });
    const projectId = await projectWith({ name: 'long', body: `{{ event.word | default: "" }} ${FILLER}` });
    await put(projectId, [
      { userId: 'ada', name: 'long', properties: { word: 'ENDLESS' } },
      { userId: 'bea', name: 'long' },
      { userId: 'cyd', name: 'long' },
    ]);
    await sending.settle();
    await sending.advance(2 * HOUR);
    expect(sentTo(sending, projectId)).toEqual(['bea', 'cyd']);
    const held = (await draftsOf(projectId)).get('ada');
    expect(held).toMatchObject({
      state: 'held',
      reason: 'render_failed',
      resumeState: 'scheduled',
      dueAt: null,
    });
    await sending.advance(24 * HOUR);
    expect((await draftsOf(projectId)).get('ada')?.moves).toBe(held?.moves);
    // A member may retry it, because its content is complete.
    const moving = { db, newId: idMaker(db.clock), sendServices: testSendServices() };
    const ref = { projectId, draftId: held?.id ?? '' };
    await moveDraft(moving, ref, { act: { kind: 'approve' }, by: { actor: 'ana' } });
    await sending.advance(HOUR);
    expect((await draftsOf(projectId)).get('ada')).toMatchObject({ state: 'held', reason: 'render_failed' });
    expect(sentTo(sending, projectId)).toHaveLength(2);
    const content = { subject: 'Hello', preheader: '', body: 'Hello Ada', format: 'markdown' } as const;
    await moveDraft(moving, ref, { act: { kind: 'edit', content }, by: { actor: 'ana' } });
    await moveDraft(moving, ref, { act: { kind: 'approve' }, by: { actor: 'ana' } });
    await sending.advance(HOUR);
    expect(sentTo(sending, projectId)).toEqual(['ada', 'bea', 'cyd']);
  });

  test('holds a draft whose table has too many cells, and sends others of its template', async () => {
    const table =
      '{% for i in (1..event.columns) %}|a{% endfor %}\n{% for i in (1..event.columns) %}|-{% endfor %}\n';
    const rows = '{% for i in (1..event.rows) %}|\n{% endfor %}';
    const projectId = await projectWith({ name: 'table', body: `Hello\n\n${table}${rows}` });
    await put(projectId, [
      { userId: 'ada', name: 'table', properties: { columns: 256, rows: 2_000 } },
      { userId: 'bea', name: 'table', properties: { columns: 4, rows: 20 } },
    ]);
    await engine.settle();
    await engine.advance(2 * HOUR);
    expect(sentTo(engine, projectId)).toEqual(['bea']);
    expect((await draftsOf(projectId)).get('ada')).toMatchObject({ state: 'held', reason: 'render_failed' });
  });

  test('returns a draft that the renderer had no space for', async () => {
    const busy = createWorkerPool<RenderTasks>({ ...POOL, slots: 0 });
    const renderer = createRenderer({ pool: busy });
    const sending = openEngine(db, clock, { sendServices: { renderer } });
    const projectId = await projectWith({ name: 'long', body: FILLER });
    await put(projectId, [{ userId: 'ada', name: 'long' }]);
    await sending.settle();
    clock.advance(HOUR);
    await sending.sender.batch(projectId);
    expect((await draftsOf(projectId)).get('ada')).toMatchObject({ state: 'scheduled', reason: null });
    await engine.advance(HOUR);
    expect(sentTo(engine, projectId)).toEqual(['ada']);
  });
});

const POOL = {
  url: new URL('../../../../testing/servers/looping-render-thread.ts', import.meta.url),
  threadsMax: 1,
  memoryMb: 256,
  slots: 100,
};

function loopingPool() {
  return createWorkerPool<RenderTasks>(POOL);
}

describe('previewEmail', () => {
  const preview = (format: string, body: string, renderer = testRenderer) =>
    projectWith().then((projectId) =>
      previewEmail(
        { db, renderer },
        {
          projectId,
          now: clock.now(),
          reference: null,
          document: { subject: 'Hello', format, body },
          userId: null,
        },
      ),
    );
  const refusal = (message: RegExp) => ({
    code: 'validation_failed',
    details: [{ field: 'body', message: expect.stringMatching(message) as unknown }],
  });

  test('refuses a template that compares long lists, and names the body', async () => {
    await expect(preview('markdown', costlyBody())).rejects.toMatchObject(
      refusal(/Rendering this email takes too much work/),
    );
    const projectId = await projectWith();
    const document = { name: 'h2', subject: 'Hello', body: costlyBody() };
    await expect(
      createTemplate(deps, { projectId, document, follow: true, actor: 'ann' }),
    ).rejects.toMatchObject(refusal(/Rendering this email takes too much work/));
  });

  const mjml = (body: string, head = ''): string => `<mjml>${head}<mj-body>${body}</mj-body></mjml>`;

  test('renders deeply nested quotes, and refuses pages that are too long or inline too much', async () => {
    const quotes = mjml(`<mj-raw>${'<blockquote>'.repeat(3_900)}${'<hr>'.repeat(11_500)}</mj-raw>`);
    const { text } = await preview('mjml', quotes);
    expect(text.length).toBeLessThan(quotes.length * 5);
    await expect(preview('mjml', mjml('<mj-section/>'.repeat(200)))).rejects.toMatchObject(
      refusal(/it compiles to [\d,]+ characters of HTML/),
    );
    const head = `<mj-head><mj-style inline="inline">${'a{b:c}'.repeat(2_300)}</mj-style></mj-head>`;
    await expect(
      preview('mjml', mjml(`<mj-raw>${'<a/>'.repeat(3_500)}</mj-raw>`, head)),
    ).rejects.toMatchObject(refusal(/2300 selectors for 3510 elements/));
  });

  test('refuses a table with too many cells, and names the body', async () => {
    const table = `${'|a'.repeat(256)}\n${'|-'.repeat(256)}\n${'|\n'.repeat(3_000)}`;
    await expect(preview('markdown', table)).rejects.toMatchObject(
      refusal(/^The email has tables of up to 77\d,\d+ cells; at most 5,000 are allowed\./),
    );
    const projectId = await projectWith();
    const document = { name: 'table', subject: 'Hello', body: table };
    await expect(
      createTemplate(deps, { projectId, document, follow: true, actor: 'ann' }),
    ).rejects.toMatchObject(refusal(/cells; at most 5,000/));
  });

  test('refuses a template that does not end within the deadline', async () => {
    const renderer = createRenderer({ pool: loopingPool(), deadlineMs: 1_500 });
    afterAll(() => renderer.close());
    await expect(preview('markdown', 'Hello', renderer)).rejects.toMatchObject(
      refusal(
        /^Rendering this email takes more than 1.5 s\. Simplify its Markdown or HTML, such as nested blocks, links and tables\.$/,
      ),
    );
  });
});

const FRAME = {
  projectName: '',
  postalAddress: null,
  unsubscribeUrl: null,
  locale: 'en',
  projectLocale: 'en',
};

describe('createRenderer', () => {
  test('lets other work run between the quick emails of one claim', async () => {
    let readings = 0;
    // Each render takes 4 ms: the clock is read before and after it.
    const renderer = createRenderer({ nowMs: () => (readings += 1) * 4 });
    const order: string[] = [];
    setImmediate(() => order.push('other'));
    const content = { subject: '', preheader: '', body: 'Hello', format: 'markdown' } as const;
    const email = { content, frame: FRAME, untrackedPrefix: null };
    const render = async (n: number): Promise<void> => {
      await renderer.run('email', email, { projectId: 1, isSending: true });
      order.push(String(n));
    };
    await Promise.all([1, 2, 3, 4, 5].map(render));
    expect(order).toEqual(['1', '2', '3', 'other', '4', '5']);
  });
});

describe('isQuick', () => {
  const quick = (body: string, format: 'markdown' | 'html') =>
    isQuick({
      content: { subject: '', preheader: '', body, format },
      frame: FRAME,
      untrackedPrefix: null,
    });

  test('bounds what is rendered in the process itself by length and tags', () => {
    expect(quick('x'.repeat(8_000), 'markdown')).toBe(true);
    expect(quick('x'.repeat(8_001), 'markdown')).toBe(false);
    expect(quick('<p>'.repeat(2_500), 'html')).toBe(true);
    expect(quick('<p>'.repeat(2_501), 'html')).toBe(false);
    expect(quick('x'.repeat(60_001), 'html')).toBe(false);
  });

  test('leaves Markdown that is expensive for its length to a thread', () => {
    expect(quick('|a'.repeat(500), 'markdown')).toBe(true);
    expect(quick('|a'.repeat(501), 'markdown')).toBe(false);
    expect(quick('[a](b)'.repeat(500), 'markdown')).toBe(true);
    expect(quick('[a](b)'.repeat(501), 'markdown')).toBe(false);
    expect(quick('![['.repeat(2_660), 'markdown')).toBe(false);
    expect(quick('[a]: https://example.com/', 'markdown')).toBe(false);
  });
});
