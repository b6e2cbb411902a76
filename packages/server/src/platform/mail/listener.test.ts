import { expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../log.ts';
import type { SendResult } from './send-result.ts';
import { type MailListenerOptions, type ReceivedMail, startMailListener } from './listener.ts';
import { openRelay } from './relay.ts';
import { classifyReply } from '../../modules/outcomes/bounces/classify-reply.ts';

const MIME = Buffer.from('Message-ID: <a@shop.test>\r\n\r\n.dot\r\nHello\r\n');
const ENVELOPE = { from: 'b@shop.test', to: 'zoe@home.test', envid: 'email-1' };

async function listener(options: Partial<MailListenerOptions> = {}): Promise<{
  received: ReceivedMail[];
  submit: (login?: string, mime?: Buffer) => Promise<SendResult>;
}> {
  const received: ReceivedMail[] = [];
  const started = await startMailListener({
    host: '127.0.0.1',
    port: 0,
    sizeMax: 10_000,
    credentials: null,
    accept: async (mail) => {
      received.push(mail);
    },
    log: silentLog,
    ...options,
  });
  onTestFinished(() => started.close());
  return {
    received,
    submit: (login = '', mime = MIME) => {
      const relay = openRelay({
        url: `smtp://${login}127.0.0.1:${started.port}`,
        log: silentLog,
        classify: classifyReply,
      });
      onTestFinished(() => relay.close(0));
      return relay.submit(ENVELOPE, mime);
    },
  };
}

it('receives an email byte for byte, with its envelope', async () => {
  const { received, submit } = await listener();
  expect(await submit()).toMatchObject({ result: 'sent' });
  const { raw, ...envelope } = received[0] ?? { raw: Buffer.alloc(0) };
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
  const acceptCalled = Promise.withResolvers<void>();
  const { submit } = await listener({
    accept: () => {
      acceptCalled.resolve();
      return keeping.promise;
    },
  });
  let hasReplied = false;
  const submitting = submit().finally(() => {
    hasReplied = true;
  });
  await acceptCalled.promise;
  expect(hasReplied).toBe(false);
  keeping.resolve();
  expect(await submitting).toMatchObject({ result: 'sent' });
});

it('replies 451 if the email could not be stored, so that the sending server keeps it', async () => {
  const { submit } = await listener({ accept: () => Promise.reject(new Error('disk full of secrets')) });
  const result = await submit();
  expect(result).toMatchObject({ result: 'deferred', stage: 'body', code: 451 });
  expect(JSON.stringify(result)).not.toContain('secrets');
});

it('refuses an email beyond the size limit, with or without an announced size', async () => {
  const { received, submit } = await listener();
  const large = Buffer.concat([MIME, Buffer.alloc(20_000, 'x')]);
  expect(await submit('', large)).toMatchObject({ result: 'failed', code: 552 });
  const dots = Buffer.concat([MIME, Buffer.from('.\r\n'.repeat(3_300))]);
  expect(await submit('', dots)).toMatchObject({ result: 'sent' });
  expect(received).toHaveLength(1);
});

it.each([
  ['', 'mail'],
  ['shop:wrong@', 'auth'],
])('if a login is required, rejects "%s"', async (login, stage) => {
  const { received, submit } = await listener({ credentials: { user: 'shop', pass: 'right' } });
  expect(await submit(login)).toMatchObject({ result: 'deferred', reason: 'relay_rejected', stage });
  expect(received).toEqual([]);
});

it('accepts the right login', async () => {
  const { submit } = await listener({ credentials: { user: 'shop', pass: 'right' } });
  expect(await submit('shop:right@')).toMatchObject({ result: 'sent' });
});
