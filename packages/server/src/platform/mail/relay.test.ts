import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  FAULT_ACTS,
  FAULT_POINTS,
  type FaultAct,
  type FaultPoint,
  type FaultRelay,
  startFaultRelay,
} from '../../../testing/servers/fault-relay.ts';
import { type Sink, type SinkOptions, startSink } from '../../../testing/servers/smtp-sink.ts';
import { silentLog } from '../log.ts';
import type { Relay, RelayOptions } from './submit.ts';
import { openRelay } from './relay.ts';
import { classifyReply } from '../../modules/outcomes/bounces/classify-reply.ts';

const CREDENTIALS = { user: 'shop', pass: 'p@ss:word' };
const LOGIN = 'shop:p%40ss%3Aword';
const ENVELOPE = { from: 'b+1@bounce.shop.test', to: 'zoe@home.test', envid: null };
/** Long enough to be sent in more than one chunk. */
const mimeOf = (id: string): Buffer =>
  Buffer.from(`Message-ID: <${id}>\r\nSubject: Hello\r\n\r\n${'A line of an email.\r\n'.repeat(4_000)}`);

function relayTo(port: number, options: Partial<RelayOptions> = {}): Relay {
  const relay = openRelay({
    url: `smtp://${LOGIN}@127.0.0.1:${port}`,
    log: silentLog,
    classify: classifyReply,
    ...options,
  });
  onTestFinished(() => relay.close(0));
  return relay;
}

async function sink(options: SinkOptions = {}): Promise<Sink> {
  const started = await startSink(options);
  onTestFinished(() => started.close());
  return started;
}

async function faultsBefore(port: number): Promise<FaultRelay> {
  const started = await startFaultRelay({ upstream: { port } });
  onTestFinished(() => started.close());
  return started;
}

const SILENCE_MS = 90_000;
const clientSockets = new Set<Socket>();
function noteSocket(message: unknown): void {
  if (typeof message !== 'object' || message === null || !('socket' in message)) return;
  const { socket } = message;
  if (socket instanceof Socket) clientSockets.add(socket.once('close', () => clientSockets.delete(socket)));
}
beforeAll(() => subscribe('net.client.socket', noteSocket));
afterAll(() => unsubscribe('net.client.socket', noteSocket));

/**
 * Fires the silence timeout of a connection whose relay hangs, without waiting for it. A real timeout that is short enough for a test also
 * fires at an earlier command if the machine is busy.
 */
async function endSilence({ hung }: FaultRelay): Promise<void> {
  const { port, bytesWritten } = await hung;
  const waiting = (): Socket | undefined =>
    [...clientSockets].find(
      ({ localPort, timeout, bytesRead }) =>
        localPort === port && timeout === SILENCE_MS && bytesRead === bytesWritten,
    );
  while (!waiting()) await setImmediate();
  // The library handles each reply of a chunk in a turn of its own, and up to three are pipelined.
  for (let turn = 0; turn < 3; turn += 1) await setImmediate();
  waiting()?.emit('timeout');
}

const BODY_POINTS: FaultPoint[] = ['first_byte', 'mid_body', 'after_dot'];

const UNREACHABLE = { result: 'deferred', reason: 'relay_unreachable', isRelayFault: true };

/** Returns the expected result for a fault and its stage. */
function expected(point: FaultPoint, act: FaultAct): object {
  if (act === 'accept' || point === 'after_reply') return { result: 'sent' };
  const inBody = BODY_POINTS.includes(point);
  if (act === 'drop' || act === 'hang') return inBody ? { result: 'unknown' } : UNREACHABLE;
  // A refusal before any command, or at EHLO, after which HELO is tried: no definite reply, and nothing sent.
  if (point === 'connect' || point === 'ehlo') return UNREACHABLE;
  const stage = inBody ? 'body' : point;
  if (act === 'defer') return { result: 'deferred', stage, code: 451, reply: '451 4.3.0 Later' };
  // Before the recipient, a refusal is about us.
  const result = ['rcpt', 'data', 'body'].includes(stage) ? 'failed' : 'deferred';
  return { result, stage, code: 554, reply: '554 5.5.0 Never' };
}

/** The stage at which a connection was lost. */
const STAGE_OF: Partial<Record<FaultPoint, string>> = Object.fromEntries(
  ['greeting', 'ehlo', 'auth', 'mail', 'rcpt', 'data'].map((point) => [point, point]),
);

describe.each([true, false])('openRelay with pipelining %s', (pipelining) => {
  let far: Sink;
  beforeAll(async () => {
    far = await startSink({ credentials: CREDENTIALS, pipelining });
  });
  afterAll(() => far.close());

  async function submitTwice(point: FaultPoint, act: FaultAct): Promise<void> {
    const id = `${point}-${act}@shop.test`;
    const faults = await startFaultRelay({ upstream: { port: far.port } });
    const relay = openRelay({
      url: `smtp://${LOGIN}@127.0.0.1:${faults.port}`,
      timeouts: { connectMs: SILENCE_MS, silenceMs: SILENCE_MS },
      log: silentLog,
      classify: classifyReply,
    });
    try {
      faults.plan({ point, act });
      const submitted = relay.submit(ENVELOPE, mimeOf(id));
      // At `connect`, the fault relay cannot hang: it resets the connection.
      if (act === 'hang' && point !== 'connect') await endSilence(faults);
      const result = await submitted;
      faults.plan(null);

      expect(result).toMatchObject(expected(point, act));
      if (result.result === 'deferred' && STAGE_OF[point]) expect(result.stage).toBe(STAGE_OF[point]);
      const copies = far.copies.get(id) ?? 0;
      if (result.result === 'sent') expect(copies).toBe(1);
      else if (result.result === 'unknown') expect(copies).toBeLessThanOrEqual(1);
      else {
        // An email that was certainly not sent succeeds on retry, and arrives once.
        expect(copies).toBe(0);
        expect(await relay.submit(ENVELOPE, mimeOf(id))).toMatchObject({ result: 'sent' });
        expect(far.copies.get(id)).toBe(1);
      }
    } finally {
      await relay.close(0);
      await faults.close();
    }
  }

  const rows = FAULT_POINTS.flatMap((point) => FAULT_ACTS.map((act) => [point, act] as const));
  it.concurrent.each(rows)('at %s, if the relay does this: %s', submitTwice);
});

it('returns unknown for an email whose reply was lost, although it arrived', async () => {
  const far = await sink({ credentials: CREDENTIALS });
  const faults = await faultsBefore(far.port);
  faults.plan({ point: 'after_dot', act: 'drop' });
  const result = await relayTo(faults.port).submit(ENVELOPE, mimeOf('lost@shop.test'));
  expect([result.result, far.copies.get('lost@shop.test')]).toEqual(['unknown', 1]);
});

it('sends emails one after another over one connection, and uses at most one connection per slot', async () => {
  const far = await sink();
  const relay = relayTo(far.port, { url: `smtp://127.0.0.1:${far.port}`, slots: 3 });
  for (let i = 0; i < 5; i += 1) await relay.submit(ENVELOPE, mimeOf(`one-${i}@shop.test`));
  expect(far.connections()).toBe(1);
  await Promise.all(
    Array.from({ length: 30 }, (_, i) => relay.submit(ENVELOPE, mimeOf(`many-${i}@shop.test`))),
  );
  expect(far.connections()).toBeLessThanOrEqual(3);
  expect([...far.copies.values()]).toEqual(Array.from({ length: 35 }, () => 1));
});

it("returns the relay's id of an email, and passes on the ENVID", async () => {
  const far = await sink();
  const relay = relayTo(far.port, { url: `smtp://127.0.0.1:${far.port}` });
  const result = await relay.submit({ ...ENVELOPE, envid: 'email+1=2' }, mimeOf('a@shop.test'));
  expect(result).toMatchObject({ result: 'sent', relayId: expect.stringMatching(/^[A-Z0-9]{16}$/) });
  expect(far.emails).toMatchObject([{ from: ENVELOPE.from, to: [ENVELOPE.to], envid: 'email+1=2' }]);
  expect(far.emails[0]?.raw).toBe(mimeOf('a@shop.test').toString());
});

it('replaces a kept connection that fails before the reply to MAIL, but not a fresh one', async () => {
  const far = await sink({ credentials: CREDENTIALS });
  const faults = await faultsBefore(far.port);
  const relay = relayTo(faults.port);
  expect(await relay.submit(ENVELOPE, mimeOf('1@shop.test'))).toMatchObject({ result: 'sent' });
  faults.plan({ point: 'mail', act: 'drop', times: 1 });
  expect(await relay.submit(ENVELOPE, mimeOf('2@shop.test'))).toMatchObject({ result: 'sent' });
  expect(faults.connections()).toBe(2);
  faults.plan({ point: 'mail', act: 'drop', times: 2 });
  expect(await relay.submit(ENVELOPE, mimeOf('3@shop.test'))).toMatchObject({
    ...UNREACHABLE,
    stage: 'mail',
  });
  faults.dropAll();
  expect(await relay.submit(ENVELOPE, mimeOf('4@shop.test'))).toMatchObject({ result: 'sent' });
  expect([...far.copies.values()]).toEqual([1, 1, 1]);
});

it('reuses the connection after a refusal', async () => {
  const far = await sink({
    atRcpt: (address) => (address.startsWith('no') ? { code: 550, text: '5.1.1 No such user' } : null),
    atBody: ({ to }) => (to[0]?.startsWith('bad') ? { code: 554, text: '5.7.1 Spam' } : null),
  });
  const relay = relayTo(far.port, { url: `smtp://127.0.0.1:${far.port}`, slots: 1 });
  const submit = (to: string) => relay.submit({ ...ENVELOPE, to }, mimeOf(`${to}.id`));
  expect(await submit('no@home.test')).toEqual({
    result: 'failed',
    reason: 'bounced',
    stage: 'rcpt',
    code: 550,
    reply: '550 5.1.1 No such user',
    bounce: { class: 'hard', status: '5.1.1' },
  });
  expect(await submit('bad@home.test')).toMatchObject({ result: 'failed', stage: 'body', code: 554 });
  expect(await submit('yes@home.test')).toMatchObject({ result: 'sent' });
  expect(far.connections()).toBe(1);
});

it("refuses an email beyond the relay's size limit without sending it", async () => {
  const far = await sink({ size: 10_000 });
  const relay = relayTo(far.port, { url: `smtp://127.0.0.1:${far.port}` });
  const result = await relay.submit(ENVELOPE, mimeOf('large@shop.test'));
  expect(result).toMatchObject({ result: 'failed', stage: 'mail', code: 552 });
  expect(await relay.submit(ENVELOPE, Buffer.from('Message-ID: <small@x>\r\n\r\nx\r\n'))).toMatchObject({
    result: 'sent',
  });
});

it('aborts an email that takes too long in total, and returns unknown once it was read', async () => {
  const far = await sink({ credentials: CREDENTIALS });
  const faults = await faultsBefore(far.port);
  faults.plan({ point: 'after_dot', act: 'hang' });
  const relay = relayTo(faults.port, { timeouts: { emailMs: 200_000 } });
  // The receiving server has timers of its own, which go on.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  onTestFinished(() => void vi.useRealTimers());
  const submitted = relay.submit(ENVELOPE, mimeOf('slow@shop.test'));
  await faults.hung;
  vi.advanceTimersByTime(200_000);
  expect(await submitted).toMatchObject({ result: 'unknown' });
});

it('close waits for emails in flight, then aborts them, and does not send those that wait for a slot', async () => {
  const far = await sink({ credentials: CREDENTIALS });
  const faults = await faultsBefore(far.port);
  faults.plan({ point: 'mail', act: 'hang' });
  const relay = relayTo(faults.port, { slots: 1 });
  const inFlight = relay.submit(ENVELOPE, mimeOf('1@shop.test'));
  const waiting = relay.submit(ENVELOPE, mimeOf('2@shop.test'));
  await relay.close(100);
  expect(await inFlight).toMatchObject(UNREACHABLE);
  expect(await waiting).toMatchObject({ ...UNREACHABLE, stage: 'connect' });
  expect(await relay.submit(ENVELOPE, mimeOf('3@shop.test'))).toMatchObject(UNREACHABLE);
});

it('close lets an email in flight finish', async () => {
  const far = await sink();
  const relay = relayTo(far.port, { url: `smtp://127.0.0.1:${far.port}` });
  const inFlight = relay.submit(ENVELOPE, mimeOf('last@shop.test'));
  await relay.close();
  expect(await inFlight).toMatchObject({ result: 'sent' });
});

it('defers an email at connect if no relay listens', async () => {
  const far = await startSink();
  await far.close();
  expect(await relayTo(far.port).submit(ENVELOPE, mimeOf('x@y'))).toMatchObject({
    ...UNREACHABLE,
    stage: 'connect',
  });
});

it('returns a refusal at AUTH for a wrong password', async () => {
  const far = await sink({ credentials: CREDENTIALS });
  const relay = relayTo(far.port, { url: `smtp://shop:wrong@127.0.0.1:${far.port}` });
  expect(await relay.submit(ENVELOPE, mimeOf('x@y'))).toMatchObject({
    result: 'deferred',
    reason: 'relay_rejected',
    stage: 'auth',
    code: 535,
  });
});

describe('encryption', () => {
  const at = new URL('../../../testing/servers/tls/', import.meta.url);
  const pem = (file: string): string => readFileSync(new URL(file, at), 'utf8');
  const tls = { key: pem('first.key'), cert: pem('first.crt') };

  it('ends the session before any command if the certificate is not trusted', async () => {
    const far = await sink({ tls });
    const relay = relayTo(far.port, { url: `smtp://localhost:${far.port}?tls=required` });
    expect(await relay.submit(ENVELOPE, mimeOf('x@y'))).toMatchObject({ ...UNREACHABLE, stage: 'tls' });
    expect(far.emails).toEqual([]);
  });

  it('accepts a trusted certificate', async () => {
    const far = await sink({ tls });
    const relay = relayTo(far.port, {
      url: `smtp://localhost:${far.port}?tls=required`,
      tls: { ca: tls.cert, servername: 'first' },
    });
    expect(await relay.submit(ENVELOPE, mimeOf('x@y'))).toMatchObject({ result: 'sent' });
  });

  it('sends no email to a relay that does not offer the required encryption', async () => {
    const far = await sink();
    const relay = relayTo(far.port, { url: `smtp://127.0.0.1:${far.port}?tls=required` });
    expect(await relay.submit(ENVELOPE, mimeOf('x@y'))).toMatchObject({ stage: 'tls' });
    expect(far.emails).toEqual([]);
  });
});

it('any envelope has exactly one recipient, or no email is sent', async () => {
  const far = await sink();
  const relay = relayTo(far.port, { url: `smtp://127.0.0.1:${far.port}` });
  const trick = fc.constantFrom(
    '\r\nRCPT TO:<evil@x.test>',
    '> \r\nDATA\r\n',
    '\0',
    ',evil@x.test',
    ' evil@x.test',
    '> NOTIFY=NEVER',
    '<evil@x.test>',
    '"',
    '\\',
    '\u2028',
    'ё',
    '＠',
    'x'.repeat(400),
    ';',
  );
  const address = fc.oneof(
    trick,
    trick.map((text) => `zoe${text}@home.test`),
    trick.map((text) => `zoe@home.test${text}`),
    fc.tuple(trick, trick).map(([text, other]) => `${text}@${other}`),
  );
  await fc.assert(
    fc.asyncProperty(address, fc.boolean(), async (text, asSender) => {
      const before = far.emails.length;
      const envelope = asSender ? { ...ENVELOPE, from: text } : { ...ENVELOPE, to: text };
      const { result } = await relay.submit(envelope, Buffer.from('Message-ID: <x@y>\r\n\r\nx\r\n'));
      const emails = far.emails.slice(before);
      expect(emails.length).toBe(result === 'sent' ? 1 : 0);
      for (const email of emails) {
        expect(email.to).toHaveLength(1);
        for (const address of [email.from, ...email.to])
          expect(address).toMatch(/^[^\s<>,;"\\@]+@[^\s<>,;"\\@]+$/);
      }
    }),
    { numRuns: 500 },
  );
});

it.each([
  'http://relay.test',
  'relay.test:25',
  'smtp://relay.test?tls=maybe',
  'smtp://%zz@relay.test',
  'smtp:///x',
])('rejects the relay URL %s without repeating it', (url) => {
  expect(() => openRelay({ url, log: silentLog, classify: classifyReply })).toThrow(
    /^The address of the relay has the form/,
  );
});
