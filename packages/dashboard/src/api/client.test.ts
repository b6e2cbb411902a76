import { afterEach, describe, expect, it, vi } from 'vitest';
import { call, callForLines, urlOf } from './client.ts';
import { ApiError } from './failure.ts';
import { createSignIn } from './sign-in.ts';

afterEach(() => vi.unstubAllGlobals());

function stubResponses(...responses: (Response | Error)[]) {
  const fetchMock = vi.fn<typeof fetch>();
  for (const response of responses)
    if (response instanceof Error) fetchMock.mockRejectedValueOnce(response);
    else fetchMock.mockResolvedValueOnce(response);
  vi.stubGlobal('fetch', fetchMock);
  return fetchMock;
}

const signedOut = (): Response =>
  Response.json({ errors: [{ code: 'session_required', message: 'Sign in first' }] }, { status: 401 });
const projects = (): Response => Response.json({ data: [] });

describe('urlOf', () => {
  it('encodes any parameter', () => {
    const args = {
      params: { project: 1, user: 'a/b?c' },
      query: { filter: 'x:"y z"', limit: 5, cursor: undefined },
    };
    expect(urlOf('GET /projects/:project/users/:user', args)).toBe(
      '/api/dashboard/projects/1/users/a%2Fb%3Fc?filter=x%3A%22y+z%22&limit=5',
    );
  });

  it('throws for a missing parameter', () => {
    expect(() => urlOf('GET /projects/:project/users', {})).toThrow('requires project');
  });
});

describe('error response', () => {
  it('has a code, errors by field and the request id', async () => {
    const errors = [{ code: 'validation_failed', message: 'must not be empty', field: 'name' }];
    stubResponses(Response.json({ errors }, { status: 422, headers: { 'X-Request-Id': 'req_1' } }));
    const failed = await call('POST /projects', { body: { name: '' } }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ApiError);
    expect(failed).toMatchObject({ status: 422, code: 'validation_failed', requestId: 'req_1' });
    expect((failed as ApiError).fields).toEqual({ name: 'must not be empty' });
  });

  it('has a message without the command that lists the rows', async () => {
    const message =
      'No endpoint has the ID "x.y". List the endpoints with: beckon webhooks list --project acme.io';
    stubResponses(Response.json({ errors: [{ code: 'not_found', message }] }, { status: 404 }));
    await expect(call('GET /projects', {})).rejects.toMatchObject({
      message: 'No endpoint has the ID "x.y".',
    });
  });

  it("is also created for a proxy's response and for no response", async () => {
    stubResponses(new Response('<h1>Bad gateway</h1>', { status: 502 }), new TypeError('fetch failed'));
    await expect(call('GET /projects', {})).rejects.toMatchObject({ status: 502, code: 'server_error' });
    await expect(call('GET /projects', {})).rejects.toMatchObject({ status: 0, code: 'unreachable' });
  });
});

it('call › refreshes the roles only after role_required', async () => {
  const refusedFor = (code: string): Response =>
    Response.json({ errors: [{ code, message: 'No' }] }, { status: 403 });
  const onLess = vi.fn();
  const signIn = createSignIn(onLess);
  stubResponses(refusedFor('forbidden'), refusedFor('role_required'));
  await expect(call('GET /projects', {}, { signIn })).rejects.toMatchObject({ code: 'forbidden' });
  expect(onLess).not.toHaveBeenCalled();
  await expect(call('GET /projects', {}, { signIn })).rejects.toMatchObject({ code: 'role_required' });
  expect(onLess).toHaveBeenCalledTimes(1);
});

describe('expired session', () => {
  it('repeats all calls after sign-in', async () => {
    const fetchMock = stubResponses(signedOut(), signedOut(), projects(), projects());
    const signIn = createSignIn();
    const listener = vi.fn();
    signIn.subscribe(listener);
    const both = Promise.all([call('GET /projects', {}, { signIn }), call('GET /projects', {}, { signIn })]);
    await vi.waitFor(() => expect(fetchMock).toHaveBeenCalledTimes(2));
    await vi.waitFor(() => expect(signIn.isWaiting()).toBe(true));
    expect(listener).toHaveBeenCalledTimes(1);
    signIn.finish();
    expect(await both).toEqual([{ data: [] }, { data: [] }]);
    expect(signIn.isWaiting()).toBe(false);
  });

  it('rejects a call that was aborted before sign-in', async () => {
    stubResponses(signedOut());
    const leaving = new AbortController();
    const pending = call('GET /projects', {}, { signIn: createSignIn(), signal: leaving.signal });
    setTimeout(() => leaving.abort(), 0);
    await expect(pending).rejects.toThrow('aborted');
  });

  it('rejects like any other error response without signIn', async () => {
    stubResponses(signedOut());
    await expect(call('GET /projects', {})).rejects.toMatchObject({ code: 'session_required' });
  });
});

describe('confirmation_required', () => {
  const unconfirmed = (): Response =>
    Response.json({ errors: [{ code: 'confirmation_required', message: 'Confirm' }] }, { status: 403 });

  it('waits for the dialog and repeats the call after confirmation', async () => {
    const fetchMock = stubResponses(unconfirmed(), projects());
    const signIn = createSignIn();
    const response = call('GET /projects', {}, { signIn });
    await vi.waitFor(() => expect(signIn.confirmation.isOpen()).toBe(true));
    expect(signIn.isWaiting()).toBe(false);
    signIn.confirmation.close(true);
    expect(await response).toEqual({ data: [] });
    expect(fetchMock).toHaveBeenCalledTimes(2);
  });

  it('rejects without repeating the call if the member cancels', async () => {
    const fetchMock = stubResponses(unconfirmed());
    const signIn = createSignIn();
    const response = call('GET /projects', {}, { signIn });
    await vi.waitFor(() => expect(signIn.confirmation.isOpen()).toBe(true));
    signIn.confirmation.close(false);
    await expect(response).rejects.toMatchObject({ code: 'not_confirmed' });
    expect(fetchMock).toHaveBeenCalledTimes(1);
  });
});

it('callForLines › reads NDJSON and events from pieces of any size', async () => {
  const pieces = ['{"a":1}\n{"a"', ':2}\n', 'event: x\ndata: {"a":3}\n\n: alive\n', '{"a":4}'];
  const body = new ReadableStream<Uint8Array>({
    start(to) {
      for (const piece of pieces) to.enqueue(new TextEncoder().encode(piece));
      to.close();
    },
  });
  stubResponses(new Response(body));
  const lines: unknown[] = [];
  await callForLines('GET /projects', {}, { onLine: (line) => lines.push(line) });
  expect(lines).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }]);
});
