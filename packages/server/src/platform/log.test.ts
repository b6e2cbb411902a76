import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createLog } from './log.ts';

/** A log that accepts any field and event, to test what is written. */
type AnyLog = Record<'info' | 'warn' | 'error', (fields: object, event: string) => void>;

/** Returns the written lines. */
function logged(write: (log: AnyLog) => void, secrets: string[] = []): Record<string, unknown>[] {
  const folder = mkdtempSync(join(tmpdir(), 'beckon-log-'));
  const file = openSync(join(folder, 'log'), 'w');
  try {
    write(createLog('debug', file as 1, secrets) as AnyLog);
    const text = readFileSync(join(folder, 'log'), 'utf8').trim();
    return text.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true });
  }
}

const ID = '019bd6fd-3cac-784a-af87-e42aa8a5af35';

describe('createLog', () => {
  test.skipIf(!existsSync('/dev/full'))('drops a line that cannot be written', () => {
    const full = openSync('/dev/full', 'w');
    const log = createLog('info', full as 1);
    expect(() => log.info({ priority: 'live' }, 'records.accepted')).not.toThrow();
    closeSync(full);
  });

  test('writes ids, numbers, names, times, paths and hosts unchanged', () => {
    const fields = {
      priority: 'live',
      ms: 17.98,
      requests: 3,
      request_id: ID,
      message: `msg_${ID}`,
      reason: 'quiet_hours',
      at: new Date(0),
      path: '/api/v1/users/bulk',
      host: 'mail.example:587',
      nothing: null,
      isFine: true,
    };
    const [line] = logged((log) => log.info(fields, 'records.accepted'));
    expect(line).toMatchObject({
      ...fields,
      at: '1970-01-01T00:00:00.000Z',
      event: 'records.accepted',
      level: 30,
    });
  });

  test.each([
    ['an API key', 'refused sk_live_abcdefghijklmnop0123456789ABCDEFG now', 'abcdefghijklmnop'],
    ['a Stripe key', 'Invalid API Key provided: rk_live_51Habcdefgh', '51Habcdefgh'],
    ['a webhook secret', 'signed by whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'MfKQ9r8G'],
    ['an Authorization header', 'sent Authorization: Bearer abc.def-ghi', 'abc.def-ghi'],
    ['a password in a URL', 'cannot reach smtp://user:s3cr3t!pw@mail.example:587', 's3cr3t'],
    [
      'a password in a URL with a host name without dots',
      'postgres://user:s3cr3t@localhost:5432/x',
      's3cr3t',
    ],
    ['an email address', '550 5.1.1 <ada.lovelace@home.example>: no such user', 'lovelace'],
    ['an email address in a URL', 'GET /x?email=ada.lovelace%40home.example', 'lovelace'],
    ['a non-ASCII email address', 'to renée.ünal@hôme.example', 'renée'],
    ['a JSON field', '{"password":"hunter2hunter2","a":1}', 'hunter2'],
    ['the token of an email link', `/u/${'a2'.repeat(17)}.${'b3'.repeat(8)}`, 'b3b3b3'],
    ['a long random string', 'token 3f9aZk2LqPw8xYv5Tn1Rb7Gc4Hd6Js0M', '3f9aZk2LqPw8'],
  ])('redacts %s in fields, lists, nested objects and errors', (_what, text, secret) => {
    const cause = new Error(text);
    const wrapped = new AggregateError([new Error('it failed', { cause })], text);
    const fields = { why: text, list: [text], inside: { deeper: { why: text } }, err: wrapped };
    expect(text).toContain(secret);
    expect(JSON.stringify(logged((log) => log.warn(fields, 'x.failed')))).not.toContain(secret);
  });

  test("redacts this installation's secrets in any form and encoding", () => {
    const secret = 'plain words, pässword/+';
    const spellings = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')];
    const lines = logged(
      (log) => spellings.forEach((spelling) => log.error({ why: `it said ${spelling}!` }, 'x')),
      [secret],
    );
    expect(lines.map(({ why }) => why)).toEqual(
      spellings.map((spelling) => expect.not.stringContaining(spelling) as string),
    );
    expect(lines.map(({ why }) => why)).toEqual(
      spellings.map(() => expect.stringContaining('it said [masked]') as string),
    );
  });

  test('redacts fields with the name of a secret or of personal data, including nested values', () => {
    const named = {
      email: 'x',
      traits: { plan: 'pro' },
      Authorization: 'y',
      nested: { cookie: ['z'], body: 'w' },
    };
    const [line] = logged((log) => log.info(named, 'x'));
    expect(line).toMatchObject({
      email: '[masked]',
      traits: '[masked]',
      Authorization: '[masked]',
      nested: { cookie: '[masked]', body: '[masked]' },
    });
  });

  test('writes the type, code, table and stack of an error, without the data in it', () => {
    const error = Object.assign(new Error('invalid input syntax for type date: "12 Elm Street"'), {
      code: '22007',
      severity: 'ERROR',
      table: 'person',
      detail: 'Failing row contains (Ada, 12 Elm Street).',
      where: 'unnamed portal parameter $1 = "12 Elm Street"',
      response: 'whatever a server said to 12 Elm Street',
    });
    const [line] = logged((log) => log.error({ err: error, project_id: 7 }, 'request.failed'));
    expect(JSON.stringify(line)).not.toContain('Elm');
    expect(line).toMatchObject({
      project_id: 7,
      err: {
        type: 'Error',
        message: 'invalid input syntax for type date: "[masked]"',
        code: '22007',
        table: 'person',
        stack: expect.stringContaining('log.test.ts') as string,
      },
    });
  });

  test('leaves out the text that a parser rejected', () => {
    let error: unknown;
    try {
      JSON.parse('{"name": Ada');
    } catch (thrown) {
      error = thrown;
    }
    expect(String(error)).toContain('Ada');
    expect(JSON.stringify(logged((log) => log.warn({ err: error }, 'x')))).not.toContain('Ada');
  });

  test('truncates circular, long and binary values', () => {
    const circle: Record<string, unknown> = { a: 1 };
    circle['again'] = circle;
    const long = { text_of_it: 'ab '.repeat(10_000), list: Array.from({ length: 1_000 }, (_, n) => n) };
    const looping = new Error('round');
    looping.cause = looping;
    const lines = logged((log) => {
      log.warn(circle, 'circle');
      log.warn(long, 'long');
      log.warn({ err: looping }, 'cause');
      log.warn({ bytes: Buffer.from('of somebody') }, 'bytes');
    });
    expect(lines.map(({ event }) => event)).toEqual(['circle', 'long', 'cause', 'bytes']);
    expect(lines.every((line) => JSON.stringify(line).length < 30_000)).toBe(true);
    expect(JSON.stringify(lines[3])).not.toContain('somebody');
  });
});
