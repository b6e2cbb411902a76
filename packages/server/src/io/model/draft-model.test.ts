import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { modelServer } from '../../../testkit/model-server.ts';
import { type DraftModel, openModel, speaksAnthropic } from './draft-model.ts';

const server = await modelServer();
afterAll(() => server.close());
beforeEach(() => {
  server.asked.length = 0;
});

const SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['subject'],
  properties: { subject: { type: 'string' } },
};
const QUESTION = { instructions: 'Be plain.', prompt: 'Word it.', schema: SCHEMA };
const KEY = 'a-key-of-this-test';

describe.each([
  ['an OpenAI-compatible endpoint', ''],
  ['Anthropic', '#anthropic'],
])('%s', (_, marker) => {
  const open = (withinMs = 5_000): DraftModel =>
    openModel({ baseUrl: `${server.url}/v1${marker}`, apiKey: KEY, name: 'small-1', withinMs });
  const ask = (model = open(), signal = new AbortController().signal) => model.ask(QUESTION, signal);

  test('is asked once, without tools of ours, for an object by its schema, and answers it', async () => {
    server.script(() => ({ kind: 'answer', value: { subject: 'Hello' } }));
    expect(await ask()).toEqual({ kind: 'answer', value: { subject: 'Hello' } });
    const [asked] = server.asked;
    expect(server.asked).toHaveLength(1);
    expect(asked?.path).toBe(marker === '' ? '/v1/chat/completions' : '/v1/messages');
    expect(asked?.headers[marker === '' ? 'authorization' : 'x-api-key']).toContain(KEY);
    expect(asked?.body).toMatchObject({ model: 'small-1', max_tokens: 2_000 });
    for (const part of ['Be plain.', 'Word it.', '"subject"']) expect(asked?.text).toContain(part);
    expect(asked?.text).not.toContain(KEY);
  });

  test('what is no object of that kind is an answer that cannot be read', async () => {
    server.script(() => ({ kind: 'text', text: 'Certainly! {"subject": ' }));
    expect(await ask()).toEqual({ kind: 'unreadable' });
  });

  test('a refusal is one', async () => {
    server.script(() => ({ kind: 'declined' }));
    expect(await ask()).toEqual({ kind: 'declined' });
  });

  test.each([429, 500, 503, 401])(
    'status %s is no answer, is not tried again, and says nothing of the endpoint',
    async (status) => {
      server.script(() => ({ kind: 'status', status }));
      expect(await ask()).toEqual({ kind: 'failed', reason: `status ${status}` });
      expect(server.asked).toHaveLength(1);
    },
  );

  test('one that hangs, or never comes to the end, is left after its time', async () => {
    for (const kind of ['hang', 'drip'] as const) {
      server.script(() => ({ kind }));
      expect(await ask(open(50))).toEqual({ kind: 'failed', reason: 'it did not answer in time' });
    }
  });

  test('whoever stops waits for nothing', async () => {
    server.script(() => ({ kind: 'hang' }));
    const stop = new AbortController();
    const asked = ask(open(600_000), stop.signal);
    await server.askedTimes(1);
    stop.abort();
    expect(await asked).toMatchObject({ kind: 'failed' });
  });

  test('nobody is followed elsewhere, with the key', async () => {
    server.script(({ path }) =>
      path.startsWith('/else')
        ? { kind: 'answer', value: { subject: 'x' } }
        : { kind: 'redirect', to: `${server.url}/else` },
    );
    expect(await ask()).toMatchObject({ kind: 'failed' });
    expect(server.asked).toHaveLength(1);
  });

  test('an answer without an end is not read to its end', async () => {
    server.script(() => ({ kind: 'endless' }));
    expect(await ask()).toMatchObject({ kind: 'failed' });
  });
});

test('an endpoint that is not there is no answer', async () => {
  const model = openModel({ baseUrl: 'http://127.0.0.1:9/v1', apiKey: KEY, name: 'x' });
  expect(await model.ask(QUESTION, new AbortController().signal)).toMatchObject({ kind: 'failed' });
});

test('who speaks as Anthropic does is told by the host, or by what stands behind the address', () => {
  expect(speaksAnthropic('https://api.anthropic.com/v1')).toBe(true);
  expect(speaksAnthropic('https://proxy.example/v1#anthropic')).toBe(true);
  expect(speaksAnthropic('https://api.openai.com/v1')).toBe(false);
  expect(speaksAnthropic('https://anthropic.com.example/v1')).toBe(false);
});
