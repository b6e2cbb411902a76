import { once } from 'node:events';
import http, { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A faulty network, and faulty proxies in front of the server. A seed decides which fault each request meets. Half of the faults happen
 * after the server has accepted the request, so that only the response is lost, late or wrong.
 */
export const HOSTILITIES = [
  'drop_before',
  'drop_after',
  'cut_answer',
  'answer_twice',
  'ask_twice',
  'too_late',
  'failed_before',
  'failed_after',
  'away',
  'storm',
] as const;
export type Hostility = (typeof HOSTILITIES)[number];

export type HostileProxy = {
  url: string;
  /** How often each fault occurred; `none`: passed on unchanged. */
  met: Record<Hostility | 'none', number>;
  close(): Promise<void>;
};

export type HostileOptions = {
  upstream: string;
  /** The share of requests that meet a fault. */
  share: number;
  seed: number;
  /** How long a late response is delayed. */
  lateMs: number;
};

/** The maximum number of requests that one storm rejects. */
const STORM_REQUESTS = 10;

export async function startHostileProxy(options: HostileOptions): Promise<HostileProxy> {
  const met = Object.fromEntries([...HOSTILITIES, 'none'].map((name) => [name, 0])) as HostileProxy['met'];
  const next = random(options.seed);
  let storm = 0;

  function choose(): Hostility | 'none' {
    if (storm > 0) {
      storm -= 1;
      return 'storm';
    }
    const found = next() < options.share ? HOSTILITIES[Math.floor(next() * HOSTILITIES.length)] : undefined;
    if (found === 'storm') storm = Math.floor(next() * STORM_REQUESTS);
    return found ?? 'none';
  }

  const server = createServer((request, response) => {
    const hostility = choose();
    met[hostility] += 1;
    handle({ request, response, hostility, options }).catch(() => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    met,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

type ProxiedRequest = {
  request: IncomingMessage;
  response: ServerResponse;
  hostility: Hostility | 'none';
  options: HostileOptions;
};
type UpstreamResponse = { status: number; headers: http.IncomingHttpHeaders; body: Buffer };

async function handle({ request, response, hostility, options }: ProxiedRequest): Promise<void> {
  const body = Buffer.concat(await request.toArray());
  const pass = (): Promise<UpstreamResponse> => forward(options.upstream, request, body);
  const reply = ({ status, headers, body: text }: UpstreamResponse): void =>
    void response.writeHead(status, headers).end(text);
  switch (hostility) {
    case 'none':
      return reply(await pass());
    case 'drop_before':
      return void request.socket.destroy();
    case 'drop_after':
      await pass();
      return void request.socket.destroy();
    case 'failed_before':
      return void response.writeHead(500).end('<h1>Internal Server Error</h1>');
    case 'failed_after':
      await pass();
      return void response.writeHead(502).end('<h1>Bad Gateway</h1>');
    case 'away':
      return void response.writeHead(503, { 'retry-after': '0' }).end();
    case 'storm':
      return void response.writeHead(429, { 'retry-after': '0' }).end('{"errors":[{"code":"rate_limited"}]}');
    case 'ask_twice':
      return reply((await Promise.all([pass(), pass()]))[1]);
    case 'cut_answer':
    case 'answer_twice':
    case 'too_late':
      return spoil(hostility, response, { upstreamResponse: await pass(), lateMs: options.lateMs });
  }
}

/** The server has applied the request; this damages its response. */
async function spoil(
  hostility: 'cut_answer' | 'answer_twice' | 'too_late',
  response: ServerResponse,
  { upstreamResponse, lateMs }: { upstreamResponse: UpstreamResponse; lateMs: number },
): Promise<void> {
  const { status, headers, body } = upstreamResponse;
  if (hostility === 'too_late') await new Promise((resolve) => setTimeout(resolve, lateMs));
  if (hostility === 'cut_answer') {
    response.writeHead(status, headers).write(body.subarray(0, Math.floor(body.length / 2)));
    return void setImmediate(() => response.socket?.destroy());
  }
  const { socket } = response;
  response.writeHead(status, headers).end(body);
  if (hostility === 'answer_twice') socket?.write(`HTTP/1.1 ${status} OK\r\nContent-Length: 2\r\n\r\n{}`);
}

async function forward(upstream: string, request: IncomingMessage, body: Buffer): Promise<UpstreamResponse> {
  const headers = { ...request.headers, host: undefined, connection: undefined };
  const requestHeaders = Object.fromEntries(
    Object.entries(headers).filter(([, value]) => value !== undefined),
  );
  const upstreamRequest = http.request(new URL(request.url ?? '/', upstream), {
    method: 'POST',
    headers: requestHeaders,
  });
  upstreamRequest.end(body);
  const [upstreamResponse] = (await once(upstreamRequest, 'response')) as [IncomingMessage];
  const { connection: _, 'transfer-encoding': __, ...kept } = upstreamResponse.headers;
  return {
    status: upstreamResponse.statusCode ?? 0,
    headers: kept,
    body: Buffer.concat(await upstreamResponse.toArray()),
  };
}

/** Mulberry32: returns the same sequence for the same seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
