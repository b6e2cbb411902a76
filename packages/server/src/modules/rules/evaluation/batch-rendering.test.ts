import { describe, expect, test } from 'vitest';
import type { RenderedContent } from '../../rendering/render.ts';
import { createBatchRendering, createSlowRenders } from './batch-rendering.ts';

const ada = { projectId: 1, userId: 'ada' };
const bea = { projectId: 1, userId: 'bea' };
const dan = { projectId: 2, userId: 'dan' };
const rendered: RenderedContent = {
  content: { subject: 'Hello', preheader: '', body: 'Hello', format: 'markdown' },
  facts: {},
  missing: [],
  failed: null,
  work: 10,
};

/** Rendering that uses so much processor time. */
function slowBy(ms: number) {
  let used = 0;
  let renders = 0;
  const slow = createSlowRenders(() => used);
  return {
    slow,
    renders: () => renders,
    render: () => {
      used += ms;
      renders += 1;
      return rendered;
    },
  };
}

describe('createSlowRenders', () => {
  test('remembers an email that took 2 s for one user, and no other user or email', () => {
    const { slow, render } = slowBy(2_000);
    const email = {};
    const failed = { content: { subject: 'Hello', body: '' }, failed: 'body' };
    expect(slow.measure(email, ada, render)).toMatchObject(failed);
    expect(slow.find(email, ada)).toMatchObject(failed);
    expect(slow.find(email, bea)).toBeUndefined();
    expect(slow.find({}, ada)).toBeUndefined();
  });

  test('remembers nothing below that', () => {
    const { slow, render } = slowBy(1_999);
    const email = {};
    expect(slow.measure(email, ada, render)).toBe(rendered);
    expect(slow.find(email, ada)).toBeUndefined();
    expect(slow.take()).toEqual(new Map());
  });

  test('returns once for how long each project blocked the process', () => {
    const { slow, render } = slowBy(3_000);
    for (const person of [ada, bea, dan]) slow.measure({}, person, render);
    expect(slow.take()).toEqual(
      new Map([
        [1, 6_000],
        [2, 3_000],
      ]),
    );
    expect(slow.take()).toEqual(new Map());
  });
});

describe('createBatchRendering', () => {
  const ofUser = (email: object, person = ada) => ({ email, person });

  test('returns an email that takes too long as failed, and does not render it again in a later batch', () => {
    const { slow, render, renders } = slowBy(12_000);
    const email = {};
    expect(createBatchRendering(slow).render(ofUser(email), render)).toMatchObject({ failed: 'body' });
    expect(createBatchRendering(slow).render(ofUser(email), render)).toMatchObject({ failed: 'body' });
    expect(renders()).toBe(1);
    expect(createBatchRendering(slow).render(ofUser(email, bea), () => rendered)).toBe(rendered);
  });

  test('lets other work run after an email that took too long', async () => {
    const { slow, render } = slowBy(12_000);
    const rendering = createBatchRendering(slow);
    const order: string[] = [];
    setImmediate(() => order.push('other'));
    rendering.render(ofUser({}), render);
    await rendering.pause();
    order.push('batch');
    expect(order).toEqual(['other', 'batch']);
  });

  test('ends a batch after 5 s, by the project that rendered most', () => {
    const { slow, render } = slowBy(0);
    let now = 0;
    const rendering = createBatchRendering(slow, () => now);
    rendering.render(ofUser({}, dan), render);
    for (const person of [ada, bea]) rendering.render(ofUser({}, person), render);
    now = 5_000;
    expect(rendering.over()).toBeNull();
    now = 5_001;
    expect(rendering.over()).toBe(1);
  });
});
