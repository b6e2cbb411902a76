import { expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../log.ts';
import type { SubmissionResult } from './submit.ts';
import { type MailListenerOptions, type ReceivedMail, startMailListener } from './listener.ts';
import { openRelay } from './relay.ts';

const MIME = Buffer.from('Message-ID: <a@shop.test>\r\n\r\n.dot\r\nHello\r\n');
const ENVELOPE = { from: 'b@shop.test', to: 'zoe@home.test', envid: 'email-1' };

async function listener(
  options: Partial<MailListenerOptions> = {},
): Promise<{ taken: ReceivedMail[]; hand: (login?: string, mime?: Buffer) => Promise<SubmissionResult> }> {
  const taken: ReceivedMail[] = [];
  const started = await startMailListener({
    host: '127.0.0.1',
    port: 0,
    sizeMax: 10_000,
    credentials: null,
    accept: async (mail) => {
      taken.push(mail);
    },
    log: silentLog,
    ...options,
  });
  onTestFinished(() => started.close());
  return {
    taken,
    hand: (login = '', mime = MIME) => {
      const relay = openRelay({ url: `smtp://${login}127.0.0.1:${started.port}`, log: silentLog });
      onTestFinished(() => relay.close(0));
      return relay.hand(ENVELOPE, mime);
    },
  };
}

it('receives an email byte for byte, with its envelope', async () => {
  const { taken, hand } = await listener();
  expect(await hand()).toMatchObject({ result: 'accepted' });
  const { raw, ...envelope } = taken[0] ?? { raw: Buffer.alloc(0) };
  expect(raw.toString()).toBe(MIME.toString());
  expect(envelope).toEqual({
    from: 'b@shop.test',
    to: ['zoe@home.test'],
    envid: 'email-1',
    remote: '127.0.0.1',
    helo: '[127.0.0.1]',
  });
});

it('sends 250 only after the email was accepted', async () => {
  const keeping = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const { hand } = await listener({
    accept: () => {
      asked.resolve();
      return keeping.promise;
    },
  });
  let answered = false;
  const handing = hand().finally(() => {
    answered = true;
  });
  await asked.promise;
  expect(answered).toBe(false);
  keeping.resolve();
  expect(await handing).toMatchObject({ result: 'accepted' });
});

it('replies 451 if the email could not be stored, so that the sending server keeps it', async () => {
  const { hand } = await listener({ accept: () => Promise.reject(new Error('disk full of secrets')) });
  const handOver = await hand();
  expect(handOver).toMatchObject({ result: 'refused', stage: 'body', code: 451 });
  expect(JSON.stringify(handOver)).not.toContain('secrets');
});

it('refuses an email beyond the size limit, with or without an announced size', async () => {
  const { taken, hand } = await listener();
  const large = Buffer.concat([MIME, Buffer.alloc(20_000, 'x')]);
  expect(await hand('', large)).toMatchObject({ result: 'refused', code: 552 });
  const dots = Buffer.concat([MIME, Buffer.from('.\r\n'.repeat(3_300))]);
  expect(await hand('', dots)).toMatchObject({ result: 'accepted' });
  expect(taken).toHaveLength(1);
});

it.each([
  ['', 'mail'],
  ['shop:wrong@', 'auth'],
])('if a login is required, rejects "%s"', async (login, stage) => {
  const { taken, hand } = await listener({ credentials: { user: 'shop', pass: 'right' } });
  expect(await hand(login)).toMatchObject({ result: 'refused', stage });
  expect(taken).toEqual([]);
});

it('accepts the right login', async () => {
  const { hand } = await listener({ credentials: { user: 'shop', pass: 'right' } });
  expect(await hand('shop:right@')).toMatchObject({ result: 'accepted' });
});
