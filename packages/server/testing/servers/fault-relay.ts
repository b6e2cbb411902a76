import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/**
 * A relay that fails on demand. It forwards every command and every email to a real mail server, and at one point of the conversation does
 * something else instead.
 */
export const FAULT_POINTS = [
  'connect',
  'greeting',
  'ehlo',
  'auth',
  'mail',
  'rcpt',
  'data',
  'first_byte',
  'mid_body',
  'after_dot',
  'after_reply',
] as const;
export type FaultPoint = (typeof FAULT_POINTS)[number];

/**
 * `accept` is not a fault. `defer` and `refuse` answer 4xx and 5xx, and the mail server never gets the email. `drop` ends the connection,
 * `hang` stops answering. At `after_dot` the mail server has accepted the email before the reply is lost.
 */
export const FAULT_ACTS = ['accept', 'defer', 'refuse', 'drop', 'hang'] as const;
export type FaultAct = (typeof FAULT_ACTS)[number];
export type Fault = { point: FaultPoint; act: FaultAct; /** How many times. */ times?: number };

/** `port` is the client's own port. */
export type HungConversation = { port: number | undefined; bytesWritten: number };

export type FaultRelay = {
  port: number;
  /** Plans a fault from now on. Null: no more faults. */
  plan: (fault: Fault | null) => void;
  /** How often each point was reached. */
  passed: Record<FaultPoint, number>;
  connections: () => number;
  /** Resolves at the first `hang`, with what the client can have read until then. */
  hung: Promise<HungConversation>;
  /** Ends every connection, as a relay does after a long idle time. */
  dropAll: () => void;
  close: () => Promise<void>;
};

export type FaultRelayOptions = { upstream: { host?: string; port: number }; port?: number };

type Deps = {
  upstream: { host?: string; port: number };
  /** Returns the action at the point that was just reached. */
  meet: (point: FaultPoint) => FaultAct;
  hang: (conversation: HungConversation) => void;
};

/** Thrown to end a conversation. `hang` leaves the client's socket open. */
class Over extends Error {
  readonly act: FaultAct;
  constructor(act: FaultAct) {
    super(act);
    this.act = act;
  }
}

export async function startFaultRelay({ upstream, port = 0 }: FaultRelayOptions): Promise<FaultRelay> {
  const sockets = new Set<Socket>();
  const passed = Object.fromEntries(FAULT_POINTS.map((point) => [point, 0])) as FaultRelay['passed'];
  let planned: Fault | null = null;
  let left = 0;
  let connections = 0;
  const hung = Promise.withResolvers<HungConversation>();

  function meet(point: FaultPoint): FaultAct {
    passed[point] += 1;
    if (planned?.point !== point || left === 0) return 'accept';
    left -= 1;
    return planned.act;
  }

  const server = createServer((client) => {
    connections += 1;
    sockets.add(client);
    client.on('close', () => sockets.delete(client));
    client.on('error', () => {});
    void serve(client, { upstream, meet, hang: hung.resolve });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const dropAll = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    passed,
    connections: () => connections,
    hung: hung.promise,
    plan(fault) {
      planned = fault;
      left = fault?.times ?? Number.POSITIVE_INFINITY;
    },
    dropAll,
    async close() {
      server.close();
      dropAll();
      await once(server, 'close');
    },
  };
}

async function serve(client: Socket, deps: Deps): Promise<void> {
  const behind = connect(deps.upstream.port, deps.upstream.host ?? '127.0.0.1');
  client.setNoDelay();
  behind.setNoDelay();
  behind.on('error', () => client.destroy());
  client.on('close', () => behind.destroy());
  const conversation = { client, behind, clientReader: reader(client), serverReader: reader(behind) };
  try {
    await converse(conversation, deps);
    client.end();
  } catch (error) {
    behind.destroy();
    if (!(error instanceof Over)) client.destroy();
    else if (error.act === 'drop') client.destroy();
    else if (error.act === 'hang') deps.hang({ port: client.remotePort, bytesWritten: client.bytesWritten });
    else client.end();
  }
}

type Conversation = { client: Socket; behind: Socket; clientReader: Reader; serverReader: Reader };

async function converse(talk: Conversation, deps: Deps): Promise<void> {
  const { client, clientReader, serverReader } = talk;
  if (deps.meet('connect') !== 'accept') {
    client.resetAndDestroy();
    throw new Over('drop');
  }
  fault(talk, deps.meet('greeting'));
  client.write(await serverReader.reply());
  for (;;) {
    const line = await clientReader.line();
    if (line === null) return;
    const point = pointOf(line);
    const act = point ? deps.meet(point) : 'accept';
    if (act === 'defer' || act === 'refuse') await refuseCommand(talk, point, act);
    else {
      fault(talk, act);
      await carryCommand(talk, line, deps);
      if (/^QUIT/i.test(line)) return;
    }
  }
}

async function carryCommand(talk: Conversation, line: string, deps: Deps): Promise<void> {
  talk.behind.write(`${line}\r\n`);
  const reply = await talk.serverReader.reply();
  talk.client.write(reply);
  if (/^AUTH/i.test(line)) await carryLogin(talk, reply);
  if (/^DATA/i.test(line) && reply.startsWith('354')) await carryEmail(talk, deps);
}

/** Refuses a command. The conversation continues, except at EHLO, and later commands get matching replies. */
async function refuseCommand(
  talk: Conversation,
  point: FaultPoint | null,
  act: 'defer' | 'refuse',
): Promise<void> {
  if (point === 'ehlo') fault(talk, act);
  talk.client.write(sayNo(act));
  if (point === 'mail' || point === 'rcpt') await refuseEmail(talk);
}

/** Stops an email that was refused at MAIL or RCPT. Pipelined commands get the replies that a server would give. */
async function refuseEmail({ client, behind, clientReader, serverReader }: Conversation): Promise<void> {
  for (;;) {
    const line = await clientReader.line();
    if (line === null) throw new Over('drop');
    if (/^(RCPT|DATA)/i.test(line)) {
      client.write('503 5.5.1 Not now\r\n');
      if (/^DATA/i.test(line)) break;
      continue;
    }
    behind.write(`${line}\r\n`);
    client.write(await serverReader.reply());
    return;
  }
  behind.write('RSET\r\n');
  await serverReader.reply();
}

async function carryLogin(
  { client, behind, clientReader, serverReader }: Conversation,
  first: string,
): Promise<void> {
  let reply = first;
  while (reply.startsWith('334')) {
    const line = await clientReader.line();
    if (line === null) throw new Over('drop');
    behind.write(`${line}\r\n`);
    reply = await serverReader.reply();
    client.write(reply);
  }
}

const DOT = Buffer.from('\r\n.\r\n');

async function carryEmail(talk: Conversation, deps: Deps): Promise<void> {
  const { client, behind, clientReader, serverReader } = talk;
  await clientReader.anyData();
  fault(talk, deps.meet('first_byte'));
  const email = await clientReader.until(DOT, (half) => {
    behind.write(half);
    fault(talk, deps.meet('mid_body'));
  });
  const act = deps.meet('after_dot');
  if (act === 'defer' || act === 'refuse') fault(talk, act);
  behind.write(email);
  const reply = await serverReader.reply();
  fault(talk, act);
  client.write(reply);
  fault(talk, deps.meet('after_reply'));
}

function fault({ client }: Conversation, act: FaultAct): void {
  if (act === 'accept') return;
  if (act === 'defer' || act === 'refuse') client.write(sayNo(act));
  throw new Over(act);
}

function sayNo(act: 'defer' | 'refuse'): string {
  return act === 'defer' ? '451 4.3.0 Later\r\n' : '554 5.5.0 Never\r\n';
}

function pointOf(line: string): FaultPoint | null {
  const [, verb] = /^(EHLO|AUTH|MAIL|RCPT|DATA)\b/i.exec(line) ?? [];
  return (FAULT_POINTS.find((point) => point === verb?.toLowerCase()) ?? null) as FaultPoint | null;
}

type Reader = {
  /** Returns the next line, or null at the end. */
  line: () => Promise<string | null>;
  /** Returns a complete reply, of any number of lines. */
  reply: () => Promise<string>;
  /** Waits for any data without consuming it. */
  anyData: () => Promise<void>;
  /** Returns everything up to and including these bytes. The first half is passed on before. */
  until: (end: Buffer, atHalf: (half: Buffer) => void) => Promise<Buffer>;
};

function reader(socket: Socket): Reader {
  let held = Buffer.alloc(0);
  let ended = false;
  let woken = Promise.withResolvers<void>();
  const wake = (): void => {
    woken.resolve();
    woken = Promise.withResolvers();
  };
  socket.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    wake();
  });
  socket.on('close', () => {
    ended = true;
    wake();
  });
  socket.on('end', () => {
    ended = true;
    wake();
  });

  function cut(length: number): Buffer {
    const piece = held.subarray(0, length);
    held = held.subarray(length);
    return piece;
  }

  async function more(): Promise<void> {
    if (ended) throw new Over('drop');
    await woken.promise;
  }

  async function line(): Promise<string | null> {
    for (;;) {
      const at = held.indexOf('\r\n');
      if (at >= 0)
        return cut(at + 2)
          .toString('latin1')
          .slice(0, -2);
      if (ended) return null;
      await woken.promise;
    }
  }

  return {
    line,
    async reply() {
      let text = '';
      for (;;) {
        const next = await line();
        if (next === null) throw new Over('drop');
        text += `${next}\r\n`;
        if (!/^\d{3}-/.test(next)) return text;
      }
    },
    async anyData() {
      while (held.length === 0) await more();
    },
    async until(end, atHalf) {
      while (held.length < 32) await more();
      atHalf(cut(held.length >> 1));
      for (;;) {
        const at = held.indexOf(end);
        if (at >= 0) return cut(at + end.length);
        await more();
      }
    },
  };
}
