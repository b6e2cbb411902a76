import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { createUDPServer, Packet } from 'dns2';

export type RecordType = 'TXT' | 'MX' | 'CNAME' | 'A' | 'AAAA';
/** `servfail`, `refused`: the server answers with that code. `silence`: it does not answer. */
export type DnsFailure = 'servfail' | 'refused' | 'silence';

/** A DNS server on loopback whose zone a test changes as it runs. It answers as a resolver does: aliases are followed. */
export type DnsServer = {
  /** The servers for `createResolver`. */
  servers: string[];
  /**
   * Replaces the records of a name and type. For TXT a text is cut into strings of 255 characters, and a list is used string by string. An
   * MX is `10 mail.example.com`. A name with other records has an empty answer for a type that was not set. A function is called for each
   * query.
   */
  set(type: RecordType, name: string, records: Records): void;
  remove(type: RecordType, name: string): void;
  /** Sets a failure for one name, for one type of it as in `AAAA a.test`, or for all. Null removes it. */
  fail(kind: DnsFailure | null, name?: string): void;
  /** Returns whether no name is answered. */
  isSilent(): boolean;
  /** Returns the number of queries so far. */
  queryCount(): number;
  stop(): Promise<void>;
};

type Records = (string | string[])[] | (() => (string | string[])[]);

const EVERY_NAME = '*';
const RCODES = { servfail: 2, refused: 5 } as const;
const NXDOMAIN = 3;
const ALIASES_MAX = 8;

type Resource = InstanceType<typeof Packet.Resource>;

export async function startDnsServer(): Promise<DnsServer> {
  const zone = new Map<string, Records>();
  const failures = new Map<string, DnsFailure>();
  let queryCount = 0;

  function recordsAt(type: RecordType, name: string): (string | string[])[] {
    const records = zone.get(`${type} ${name}`) ?? [];
    return typeof records === 'function' ? records() : records;
  }

  function resolve(query: { name: string; type: number }): { rcode: number; answers: Resource[] } {
    const type = TYPES.find((candidate) => Packet.TYPE[candidate] === query.type);
    const answers: Resource[] = [];
    let name = query.name.toLowerCase();
    for (let n = 0; n < ALIASES_MAX; n += 1) {
      const direct = type ? recordsAt(type, name) : [];
      answers.push(...direct.map((record) => resourceOf(type ?? 'TXT', name, record)));
      const [alias] = recordsAt('CNAME', name);
      if (direct.length > 0 || typeof alias !== 'string') break;
      answers.push(resourceOf('CNAME', name, alias));
      name = alias;
    }
    const exists = answers.length > 0 || TYPES.some((candidate) => zone.has(`${candidate} ${name}`));
    return { rcode: exists ? 0 : NXDOMAIN, answers };
  }

  function respond(request: Packet, send: (response: Packet) => void): void {
    queryCount += 1;
    const [query] = request.questions;
    if (!query) return;
    const { name, type = 0 } = query as { name: string; type?: number };
    const typeName = TYPES.find((candidate) => Packet.TYPE[candidate] === type) ?? '';
    const keys = [`${typeName} ${name}`.toLowerCase(), name.toLowerCase(), EVERY_NAME];
    const failure = keys.map((key) => failures.get(key)).find((kind) => kind !== undefined);
    if (failure === 'silence') return;
    const response = Packet.createResponseFromRequest(request);
    const { rcode, answers } = failure ? { rcode: RCODES[failure], answers: [] } : resolve({ name, type });
    response.header.rcode = rcode;
    response.answers.push(...answers);
    send(response);
  }

  const { port, close } = await listen(respond);
  return {
    servers: [`127.0.0.1:${port}`],
    set: (type, name, records) => void zone.set(`${type} ${name.toLowerCase()}`, records),
    remove: (type, name) => void zone.delete(`${type} ${name.toLowerCase()}`),
    fail(kind, name = EVERY_NAME) {
      if (kind) failures.set(name.toLowerCase(), kind);
      else failures.delete(name.toLowerCase());
    },
    isSilent: () => failures.get(EVERY_NAME) === 'silence',
    queryCount: () => queryCount,
    stop: close,
  };
}

type Respond = (request: Packet, send: (response: Packet) => void) => void;

/** Listens on UDP, which truncates long answers, and on TCP at the same port, where clients then retry. */
async function listen(respond: Respond): Promise<{ port: number; close: () => Promise<void> }> {
  for (;;) {
    const tcp = listenTcp(respond);
    tcp.listen(0, '127.0.0.1');
    await once(tcp, 'listening');
    const address = tcp.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const udp = createUDPServer((request, send) => respond(request, (response) => void send(response)));
    const bound = once(udp, 'listening').then(
      () => true,
      () => false,
    );
    void udp.listen(port, '127.0.0.1');
    const close = async (): Promise<void> => {
      const closed = [once(tcp, 'close'), ...((await bound) ? [once(udp, 'close')] : [])];
      tcp.close();
      if (await bound) udp.close();
      await Promise.all(closed);
    };
    if (await bound) return { port, close };
    await close();
  }
}

/** Messages over TCP have a length prefix. The library's own listener would be open to all addresses. */
function listenTcp(respond: Respond): Server {
  return createServer((socket) => {
    let held = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('data', (data: Buffer) => {
      held = Buffer.concat([held, data]);
      while (held.length >= 2 && held.length >= 2 + held.readUInt16BE()) {
        const request = Packet.parse(held.subarray(2, 2 + held.readUInt16BE()));
        held = held.subarray(2 + held.readUInt16BE());
        respond(request, (response) => {
          const bytes = response.toBuffer();
          const length = Buffer.alloc(2);
          length.writeUInt16BE(bytes.length);
          socket.write(Buffer.concat([length, bytes]));
        });
      }
    });
  });
}

const TYPES: RecordType[] = ['TXT', 'MX', 'CNAME', 'A', 'AAAA'];

function resourceOf(type: RecordType, name: string, record: string | string[]): Resource {
  const base = { name, type: Packet.TYPE[type], class: Packet.CLASS.IN, ttl: 0 };
  if (type === 'TXT') {
    const data = typeof record === 'string' ? (record.match(/[^]{1,255}/g) ?? ['']) : record;
    return { ...base, data } as Resource;
  }
  const text = String(record);
  if (type === 'A' || type === 'AAAA') return { ...base, address: text } as Resource;
  if (type === 'CNAME') return { ...base, domain: text } as Resource;
  const [priority = '0', exchange = ''] = text.split(' ');
  return { ...base, priority: Number(priority), exchange } as Resource;
}
