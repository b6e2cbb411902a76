import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One connection to a mail server, used command by command. */
export type Talk = {
  greeting: string;
  /** Sends one line and returns the reply, or an empty text if the server hung up. */
  say(line: string): Promise<string>;
  /** Submits a whole email. Returns the reply to each recipient and, if one was accepted, to the email. */
  submit(mail: { from?: string; to: string[]; raw: string }): Promise<{ rcpt: string[]; data: string }>;
  socket: Socket;
  close(): void;
};

export async function openTalk(port: number, host = '127.0.0.1'): Promise<Talk> {
  const socket = connect(port, host);
  socket.setEncoding('utf8');
  let held = '';
  const waiting: ((reply: string) => void)[] = [];
  const replies: string[] = [];
  const deliver = (reply: string): void => {
    const next = waiting.shift();
    if (next) next(reply);
    else replies.push(reply);
  };
  socket.on('data', (part: string) => {
    held += part;
    for (;;) {
      const whole = /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(held);
      if (!whole) return;
      held = held.slice(whole[0].length);
      deliver(whole[0].trimEnd());
    }
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => waiting.splice(0).forEach((next) => next('')));
  const nextReply = (): Promise<string> => {
    const ready = replies.shift();
    if (ready !== undefined) return Promise.resolve(ready);
    if (socket.destroyed) return Promise.resolve('');
    const { promise, resolve } = Promise.withResolvers<string>();
    waiting.push(resolve);
    return promise;
  };
  async function say(line: string): Promise<string> {
    if (!socket.destroyed) socket.write(`${line}\r\n`);
    return nextReply();
  }
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  const greeting = await nextReply();
  if (greeting.startsWith('220')) await say('EHLO mx.home.test');
  return {
    greeting,
    say,
    socket,
    async submit({ from = '', to, raw }) {
      await say(`MAIL FROM:<${from}>`);
      const rcpt: string[] = [];
      for (const address of to) rcpt.push(await say(`RCPT TO:<${address}>`));
      if (!rcpt.some((reply) => reply.startsWith('250'))) {
        await say('RSET');
        return { rcpt, data: '' };
      }
      await say('DATA');
      const lines = raw.replaceAll(/\r?\n/g, '\r\n').replaceAll(/^\./gm, '../..');
      return { rcpt, data: await say(`${lines.replace(/\r\n$/, '')}\r\n.`) };
    },
    close: () => socket.destroy(),
  };
}
