import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { modelServer } from '../../../../testing/servers/model-server.ts';
import { type DraftModel, openModel, speaksAnthropic } from './draft-model.ts';

const server = await modelServer();
afterAll(() => server.close());
beforeEach(() => {
  server.requests.length = 0;
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
  const generate = (model = open(), signal = new AbortController().signal) =>
    model.generate(QUESTION, signal);

  test('sends one request for an object by its schema, without tools, and returns the object', async () => {
    server.script(() => ({ kind: 'answer', value: { subject: 'Hello' } }));
    expect(await generate()).toEqual({ kind: 'answer', value: { subject: 'Hello' } });
    const [request] = server.requests;
    expect(server.requests).toHaveLength(1);
    expect(request?.path).toBe(marker === '' ? '/v1/chat/completions' : '/v1/messages');
    expect(request?.headers[marker === '' ? 'authorization' : 'x-api-key']).toContain(KEY);
    expect(request?.body).toMatchObject({ model: 'small-1', max_tokens: 2_000 });
    for (const part of ['Be plain.', 'Word it.', '"subject"']) expect(request?.text).toContain(part);
    expect(request?.text).not.toContain(KEY);
  });

  test('returns unreadable for an answer that is not such an object', async () => {
    server.script(() => ({ kind: 'text', text: 'Certainly! {"subject": ' }));
    expect(await generate()).toEqual({ kind: 'unreadable' });
  });

  test('returns declined for a refusal', async () => {
    server.script(() => ({ kind: 'declined' }));
    expect(await generate()).toEqual({ kind: 'declined' });
  });

  test.each([429, 500, 503, 401])(
    'returns failed for status %s, without a retry or details of the endpoint',
    async (status) => {
      server.script(() => ({ kind: 'status', status }));
      expect(await generate()).toEqual({ kind: 'failed', reason: `status ${status}` });
      expect(server.requests).toHaveLength(1);
    },
  );

  test('fails after its time limit if the endpoint hangs or drips', async () => {
    for (const kind of ['hang', 'drip'] as const) {
      server.script(() => ({ kind }));
      expect(await generate(open(50))).toEqual({ kind: 'failed', reason: 'it did not answer in time' });
    }
  });

  test('rejects immediately when aborted', async () => {
    server.script(() => ({ kind: 'hang' }));
    const stop = new AbortController();
    const response = generate(open(600_000), stop.signal);
    await server.waitForRequests(1);
    stop.abort();
    expect(await response).toMatchObject({ kind: 'failed' });
  });

  test('does not follow redirects, and so does not leak the key', async () => {
    server.script(({ path }) =>
      path.startsWith('/else')
        ? { kind: 'answer', value: { subject: 'x' } }
        : { kind: 'redirect', to: `${server.url}/else` },
    );
    expect(await generate()).toMatchObject({ kind: 'failed' });
    expect(server.requests).toHaveLength(1);
  });

  test('stops reading an endless answer', async () => {
    server.script(() => ({ kind: 'endless' }));
    expect(await generate()).toMatchObject({ kind: 'failed' });
  });
});

test('returns failed if there is no endpoint', async () => {
  const model = openModel({ baseUrl: 'http://127.0.0.1:9/v1', apiKey: KEY, name: 'x' });
  expect(await model.generate(QUESTION, new AbortController().signal)).toMatchObject({ kind: 'failed' });
});

test('speaksAnthropic checks the host, or the fragment of the URL', () => {
  expect(speaksAnthropic('https://api.anthropic.com/v1')).toBe(true);
  expect(speaksAnthropic('https://proxy.example/v1#anthropic')).toBe(true);
  expect(speaksAnthropic('https://api.openai.com/v1')).toBe(false);
  expect(speaksAnthropic('https://anthropic.com.example/v1')).toBe(false);
});
