import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openWire } from './tcp-proxy.ts';

/** Answers each line with `you said <line>`, and records what it received. */
const received: string[] = [];
const open = new Set<Socket>();
let ended = 0;
const server = createServer((socket) => {
  open.add(socket);
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    received.push(text);
    socket.write(`you said ${text}`);
  });
  socket.on('error', () => {});
  socket.on('end', () => (ended += 1));
  socket.on('close', () => open.delete(socket));
});
let wire: Awaited<ReturnType<typeof openWire>>;

beforeEach(async () => {
  received.length = 0;
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
  sent: () => string;
  says: (text: string) => Promise<void>;
  /** Resolves with how the connection ended. */
  over: Promise<string>;
};

async function client(): Promise<Client> {
  const socket = connect(wire.port, '127.0.0.1');
  let sent = '';
  const over = new Promise<string>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on('close', () => resolve('closed'));
  });
  socket.setEncoding('utf8').on('data', (text: string) => {
    sent += text;
  });
  await Promise.race([once(socket, 'connect'), over]);
  return {
    socket,
    sent: () => sent,
    says: (text) => expect.poll(() => sent).toBe(text),
    over,
  };
}

async function greetedClient(): Promise<Client> {
  const connection = await client();
  connection.socket.write('hello\n');
  await connection.says('you said hello\n');
  return connection;
}

test('carries both directions, and passes the end of each side to the other', async () => {
  const connection = await greetedClient();
  connection.socket.end();
  expect(await connection.over).toBe('closed');
  expect([received, ended]).toEqual([['hello\n'], 1]);
});

test('carries more than any buffer holds completely', async () => {
  const connection = await client();
  const much = 'x'.repeat(4_000_000);
  connection.socket.write(much);
  await expect.poll(() => received.join('').length, { timeout: 10_000 }).toBe(much.length);
  await expect
    .poll(() => connection.sent().replaceAll('you said ', '').length, { timeout: 10_000 })
    .toBe(much.length);
});

test('reset before the reply: the request takes effect, and the client gets no reply', async () => {
  const connection = await greetedClient();
  wire.inject({ kind: 'reset', when: 'before-reply' });
  connection.socket.write('do it\n');
  expect(await connection.over).toBe('ECONNRESET');
  expect([received, connection.sent()]).toEqual([['hello\n', 'do it\n'], 'you said hello\n']);
  wire.restore();
  await greetedClient();
});

test('reset after the reply: the client gets the reply, then the connection is reset', async () => {
  const connection = await greetedClient();
  wire.inject({ kind: 'reset', when: 'after-reply' });
  connection.socket.write('do it\n');
  expect(await connection.over).toBe('ECONNRESET');
  expect(connection.sent()).toBe('you said hello\nyou said do it\n');
});

test('reset now: resets open and new connections', async () => {
  const connection = await greetedClient();
  wire.inject({ kind: 'reset', when: 'now' });
  expect(await connection.over).toBe('ECONNRESET');
  const two = await client();
  expect(await two.over).toBe('ECONNRESET');
  await expect.poll(() => open.size).toBe(0);
  wire.restore();
  await greetedClient();
});

test('half open upward: drops bytes without an error, and resets affected connections when it is restored', async () => {
  const connection = await greetedClient();
  const quiet = await greetedClient();
  wire.inject({ kind: 'half-open', direction: 'up' });
  connection.socket.write('lost\n');
  open.forEach((socket) => socket.write('from below\n'));
  await connection.says('you said hello\nfrom below\n');
  connection.socket.end();
  await quiet.says('you said hello\nfrom below\n');
  expect([received, open.size, ended]).toEqual([['hello\n', 'hello\n'], 2, 0]);
  wire.restore();
  expect(await connection.over).toBe('ECONNRESET');
  await expect.poll(() => open.size).toBe(1);
  quiet.socket.write('again\n');
  await quiet.says('you said hello\nfrom below\nyou said again\n');
});

test('half open downward: the request arrives, and the reply does not', async () => {
  const connection = await greetedClient();
  wire.inject({ kind: 'half-open', direction: 'down' });
  connection.socket.write('more\n');
  await expect.poll(() => received).toEqual(['hello\n', 'more\n']);
  wire.restore();
  expect(await connection.over).toBe('ECONNRESET');
  expect(connection.sent()).toBe('you said hello\n');
});

test('half open both ways: accepts a new connection, and carries nothing', async () => {
  wire.inject({ kind: 'half-open', direction: 'both' });
  const connection = await client();
  connection.socket.write('lost\n');
  await expect.poll(() => open.size).toBe(1);
  open.forEach((socket) => socket.write('lost too\n'));
  expect(connection.socket.destroyed).toBe(false);
  wire.restore();
  expect(await connection.over).toBe('ECONNRESET');
  expect([received, connection.sent()]).toEqual([[], '']);
});

test('delay: delivers late and complete, and immediately once it is restored', async () => {
  const connection = await greetedClient();
  wire.inject({ kind: 'delay', ms: 50 });
  const startedAt = performance.now();
  connection.socket.write('late\n');
  await connection.says('you said hello\nyou said late\n');
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(99);
  wire.inject({ kind: 'delay', ms: 3_600_000 });
  connection.socket.write('never\n');
  wire.restore();
  await connection.says('you said hello\nyou said late\nyou said never\n');
});

test('drip: limits bytes per second, and delivers the rest once it is restored', async () => {
  const connection = await greetedClient();
  wire.inject({ kind: 'drip', bytesPerSecond: 20 });
  connection.socket.write('abcdef\n');
  await expect.poll(() => received.join('')).toContain('ab');
  expect(received.join('')).not.toContain('abcdef');
  wire.restore();
  await expect.poll(() => received.join('')).toBe('hello\nabcdef\n');
});

test('refuse: rejects new and open connections, and works again at the same port afterwards', async () => {
  const connection = await greetedClient();
  wire.inject({ kind: 'refuse' });
  expect(await connection.over).toBe('ECONNRESET');
  expect(await (await client()).over).toBe('ECONNREFUSED');
  wire.restore();
  await expect
    .poll(async () => {
      const { socket } = await client();
      return socket.destroyed;
    })
    .toBe(false);
  await greetedClient();
});
