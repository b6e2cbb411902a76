import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openWire } from './tcp-proxy.ts';

/** Answers each line with `you said <line>`, and records what it received. */
const heard: string[] = [];
const open = new Set<Socket>();
let ended = 0;
const server = createServer((socket) => {
  open.add(socket);
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    heard.push(text);
    socket.write(`you said ${text}`);
  });
  socket.on('error', () => {});
  socket.on('end', () => (ended += 1));
  socket.on('close', () => open.delete(socket));
});
let wire: Awaited<ReturnType<typeof openWire>>;

beforeEach(async () => {
  heard.length = 0;
  ended = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  wire = await openWire({ port: (server.address() as AddressInfo).port });
});

afterEach(async () => {
  await wire.close();
  open.forEach((socket) => socket.destroy());
  await new Promise((resolve) => server.close(resolve));
});

type Client = {
  socket: Socket;
  said: () => string;
  says: (text: string) => Promise<void>;
  /** Resolves with how the connection ended. */
  over: Promise<string>;
};

async function client(): Promise<Client> {
  const socket = connect(wire.port, '127.0.0.1');
  let said = '';
  const over = new Promise<string>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on('close', () => resolve('closed'));
  });
  socket.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await Promise.race([once(socket, 'connect'), over]);
  return {
    socket,
    said: () => said,
    says: (text) => expect.poll(() => said).toBe(text),
    over,
  };
}

async function talking(): Promise<Client> {
  const one = await client();
  one.socket.write('hello\n');
  await one.says('you said hello\n');
  return one;
}

test('carries both directions, and passes the end of each side to the other', async () => {
  const one = await talking();
  one.socket.end();
  expect(await one.over).toBe('closed');
  expect([heard, ended]).toEqual([['hello\n'], 1]);
});

test('carries more than any buffer holds completely', async () => {
  const one = await client();
  const much = 'x'.repeat(4_000_000);
  one.socket.write(much);
  await expect.poll(() => heard.join('').length, { timeout: 10_000 }).toBe(much.length);
  await expect
    .poll(() => one.said().replaceAll('you said ', '').length, { timeout: 10_000 })
    .toBe(much.length);
});

test('reset before the reply: the request takes effect, and the client gets no reply', async () => {
  const one = await talking();
  wire.spoil({ kind: 'reset', when: 'before-reply' });
  one.socket.write('do it\n');
  expect(await one.over).toBe('ECONNRESET');
  expect([heard, one.said()]).toEqual([['hello\n', 'do it\n'], 'you said hello\n']);
  wire.mend();
  await talking();
});

test('reset after the reply: the client gets the reply, then the connection is reset', async () => {
  const one = await talking();
  wire.spoil({ kind: 'reset', when: 'after-reply' });
  one.socket.write('do it\n');
  expect(await one.over).toBe('ECONNRESET');
  expect(one.said()).toBe('you said hello\nyou said do it\n');
});

test('reset now: resets open and new connections', async () => {
  const one = await talking();
  wire.spoil({ kind: 'reset', when: 'now' });
  expect(await one.over).toBe('ECONNRESET');
  const two = await client();
  expect(await two.over).toBe('ECONNRESET');
  await expect.poll(() => open.size).toBe(0);
  wire.mend();
  await talking();
});

test('half open upward: drops bytes without an error, and resets affected connections when it is mended', async () => {
  const one = await talking();
  const quiet = await talking();
  wire.spoil({ kind: 'half-open', direction: 'up' });
  one.socket.write('lost\n');
  open.forEach((socket) => socket.write('from below\n'));
  await one.says('you said hello\nfrom below\n');
  one.socket.end();
  await quiet.says('you said hello\nfrom below\n');
  expect([heard, open.size, ended]).toEqual([['hello\n', 'hello\n'], 2, 0]);
  wire.mend();
  expect(await one.over).toBe('ECONNRESET');
  await expect.poll(() => open.size).toBe(1);
  quiet.socket.write('again\n');
  await quiet.says('you said hello\nfrom below\nyou said again\n');
});

test('half open downward: the request arrives, and the reply does not', async () => {
  const one = await talking();
  wire.spoil({ kind: 'half-open', direction: 'down' });
  one.socket.write('more\n');
  await expect.poll(() => heard).toEqual(['hello\n', 'more\n']);
  wire.mend();
  expect(await one.over).toBe('ECONNRESET');
  expect(one.said()).toBe('you said hello\n');
});

test('half open both ways: accepts a new connection, and carries nothing', async () => {
  wire.spoil({ kind: 'half-open', direction: 'both' });
  const one = await client();
  one.socket.write('lost\n');
  await expect.poll(() => open.size).toBe(1);
  open.forEach((socket) => socket.write('lost too\n'));
  expect(one.socket.destroyed).toBe(false);
  wire.mend();
  expect(await one.over).toBe('ECONNRESET');
  expect([heard, one.said()]).toEqual([[], '']);
});

test('delay: delivers late and complete, and immediately once it is mended', async () => {
  const one = await talking();
  wire.spoil({ kind: 'delay', ms: 50 });
  const asked = performance.now();
  one.socket.write('late\n');
  await one.says('you said hello\nyou said late\n');
  expect(performance.now() - asked).toBeGreaterThanOrEqual(99);
  wire.spoil({ kind: 'delay', ms: 3_600_000 });
  one.socket.write('never\n');
  wire.mend();
  await one.says('you said hello\nyou said late\nyou said never\n');
});

test('drip: limits bytes per second, and delivers the rest once it is mended', async () => {
  const one = await talking();
  wire.spoil({ kind: 'drip', bytesPerSecond: 20 });
  one.socket.write('abcdef\n');
  await expect.poll(() => heard.join('')).toContain('ab');
  expect(heard.join('')).not.toContain('abcdef');
  wire.mend();
  await expect.poll(() => heard.join('')).toBe('hello\nabcdef\n');
});

test('refuse: rejects new and open connections, and works again at the same port afterwards', async () => {
  const one = await talking();
  wire.spoil({ kind: 'refuse' });
  expect(await one.over).toBe('ECONNRESET');
  expect(await (await client()).over).toBe('ECONNREFUSED');
  wire.mend();
  await expect
    .poll(async () => {
      const { socket } = await client();
      return socket.destroyed;
    })
    .toBe(false);
  await talking();
});
