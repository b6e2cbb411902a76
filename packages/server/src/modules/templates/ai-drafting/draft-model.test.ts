import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { modelServer } from '../../../../testkit/model-server.ts';
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

  test('sends one request for an object by its schema, without tools, and returns the object', async () => {
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

  test('returns unreadable for an answer that is not such an object', async () => {
    server.script(() => ({ kind: 'text', text: 'Certainly! {"subject": ' }));
    expect(await ask()).toEqual({ kind: 'unreadable' });
  });

  test('returns declined for a refusal', async () => {
    server.script(() => ({ kind: 'declined' }));
    expect(await ask()).toEqual({ kind: 'declined' });
  });

  test.each([429, 500, 503, 401])(
    'returns failed for status %s, without a retry or details of the endpoint',
    async (status) => {
      server.script(() => ({ kind: 'status', status }));
      expect(await ask()).toEqual({ kind: 'failed', reason: `status ${status}` });
      expect(server.asked).toHaveLength(1);
    },
  );

  test('fails after its time limit if the endpoint hangs or drips', async () => {
    for (const kind of ['hang', 'drip'] as const) {
      server.script(() => ({ kind }));
      expect(await ask(open(50))).toEqual({ kind: 'failed', reason: 'it did not answer in time' });
    }
  });

  test('rejects immediately when aborted', async () => {
    server.script(() => ({ kind: 'hang' }));
    const stop = new AbortController();
    const asked = ask(open(600_000), stop.signal);
    await server.askedTimes(1);
    stop.abort();
    expect(await asked).toMatchObject({ kind: 'failed' });
  });

  test('does not follow redirects, and so does not leak the key', async () => {
    server.script(({ path }) =>
      path.startsWith('/else')
        ? { kind: 'answer', value: { subject: 'x' } }
        : { kind: 'redirect', to: `${server.url}/else` },
    );
    expect(await ask()).toMatchObject({ kind: 'failed' });
    expect(server.asked).toHaveLength(1);
  });

  test('stops reading an endless answer', async () => {
    server.script(() => ({ kind: 'endless' }));
    expect(await ask()).toMatchObject({ kind: 'failed' });
  });
});

test('returns failed if there is no endpoint', async () => {
  const model = openModel({ baseUrl: 'http://127.0.0.1:9/v1', apiKey: KEY, name: 'x' });
  expect(await model.ask(QUESTION, new AbortController().signal)).toMatchObject({ kind: 'failed' });
});

test('speaksAnthropic checks the host, or the fragment of the URL', () => {
  expect(speaksAnthropic('https://api.anthropic.com/v1')).toBe(true);
  expect(speaksAnthropic('https://proxy.example/v1#anthropic')).toBe(true);
  expect(speaksAnthropic('https://api.openai.com/v1')).toBe(false);
  expect(speaksAnthropic('https://anthropic.com.example/v1')).toBe(false);
});
