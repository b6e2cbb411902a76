import { afterAll, describe, expect, test } from 'vitest';
import { costlyBody } from '../../../testing/factories/costly-inputs.ts';
import { testRenderer } from '../../../testing/factories/send-services.ts';
import { createWorkerPool } from '../../platform/threads/worker-pool.ts';
import { tryEmails } from './check-rule.ts';
import { createRenderer, type Renderer } from '../rendering/pool/renderer.ts';
import type { RenderTasks } from '../rendering/pool/tasks.ts';

const GOOD = { draft: { subject: 'Hello', body: 'Hello {{ user.name | default: "there" }}' } };
const COSTLY = { draft: { subject: 'Hello', body: costlyBody() } };

const ruleOf = (...steps: object[]): object => ({ name: 'greeter', when: { event: 'hello' }, steps });
const tryRule = (document: unknown, renderer: Renderer = testRenderer): Promise<void> =>
  tryEmails(renderer, { projectId: 1, document });

describe('tryEmails', () => {
  test('accepts emails that render within the limits, and templates by name', async () => {
    await tryRule(ruleOf(GOOD, { wait: '1d' }, { draft: 'welcome' }, GOOD));
  });

  test('refuses an email that compares long lists, and names its field', async () => {
    const branch = { branch: { if: { trait: 'plan', equals: 'pro' } }, then: [GOOD], else: [COSTLY] };
    await expect(tryRule(ruleOf(GOOD, branch))).rejects.toMatchObject({
      code: 'validation_failed',
      details: [{ field: 'steps.1.else.0.draft.body' }],
    });
    await expect(tryRule(ruleOf(GOOD, branch))).rejects.toThrowErrorMatchingInlineSnapshot(
      `[Fault: steps.1.else.0.draft.body: Rendering this email takes too much work. Simplify loops, comparisons or nested blocks.]`,
    );
    const subject = { draft: { subject: '{% for i in (1..100000) %}x{% endfor %}', body: 'Hello' } };
    await expect(tryRule(ruleOf(subject))).rejects.toMatchObject({
      details: [{ field: 'steps.0.draft.subject' }],
    });
  });

  test('refuses an email in a document without a name, as an update may be', async () => {
    const document = { when: { event: 'hello' }, steps: [COSTLY] };
    await expect(tryRule(document)).rejects.toMatchObject({ details: [{ field: 'steps.0.draft.body' }] });
  });

  test('refuses an email that does not render within the deadline', async () => {
    const url = new URL('../../../testing/servers/looping-render-thread.ts', import.meta.url);
    const pool = createWorkerPool<RenderTasks>({ url, threadsMax: 1, memoryMb: 256, slots: 100 });
    const renderer = createRenderer({ pool, deadlineMs: 5_000 });
    afterAll(() => renderer.close());
    const endless = { draft: { subject: 'Hello', body: 'ENDLESS' } };
    await expect(tryRule(ruleOf(GOOD, endless), renderer)).rejects.toThrowErrorMatchingInlineSnapshot(
      `[Fault: steps.1.draft.body: Rendering this email takes more than 5 s. Simplify its Markdown or HTML, such as nested blocks, links and tables.]`,
    );
  });

  test('renders nothing after the first email that exceeds the limits', async () => {
    let renders = 0;
    const counting: Renderer = {
      ...testRenderer,
      run(name, input, of) {
        renders += 1;
        return testRenderer.run(name, input, of);
      },
    };
    const steps = [GOOD, ...Array.from({ length: 9 }, () => COSTLY)];
    await expect(tryRule(ruleOf(...steps), counting)).rejects.toMatchObject({ code: 'validation_failed' });
    expect(renders).toBe(2);
  });

  test('returns server_error for a busy renderer', async () => {
    const url = new URL('../../../testing/servers/looping-render-thread.ts', import.meta.url);
    const pool = createWorkerPool<RenderTasks>({ url, threadsMax: 1, memoryMb: 256, slots: 0 });
    await expect(tryRule(ruleOf(GOOD), createRenderer({ pool }))).rejects.toMatchObject({
      code: 'server_error',
    });
  });

  test('leaves a document that is not a rule to the rule parser', async () => {
    await tryRule([]);
    await tryRule({ ...ruleOf(COSTLY), color: 'red' });
  });
});
