import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

/** A customer's server on loopback, over TLS. It keeps what it received, and answers as the test says. */
export type HookServer = {
  /** Returns the URL of a path. */
  url(path: string): string;
  received: Hooked[];
  /** Unanswered requests by path: the current number and the maximum. */
  open: Map<string, { now: number; most: number }>;
  /** Sets how it answers from now on. It starts with 204. `silent` never answers. */
  setReply(replyFor: (hooked: Hooked) => HookReply | Promise<HookReply>): void;
  close(): Promise<void>;
};
export type Hooked = { path: string; headers: IncomingHttpHeaders; body: string };
export type HookReply =
  | { status: number; headers?: Record<string, string>; body?: string }
  | 'silent'
  | 'reset';

const TLS = join(import.meta.dirname, 'tls');
/** For `NODE_EXTRA_CA_CERTS` of a process that must trust it. */
export const HOOK_CA_FILE = join(TLS, 'names.crt');
export const HOOK_CA = readFileSync(HOOK_CA_FILE);

export async function hookServer(): Promise<HookServer> {
  let replyFor: (hooked: Hooked) => HookReply | Promise<HookReply> = () => ({ status: 204 });
  const received: Hooked[] = [];
  const open: HookServer['open'] = new Map();
  const server = createServer({ cert: HOOK_CA, key: readFileSync(join(TLS, 'names.key')) });
  server.on('request', (request, response) => {
    const path = request.url ?? '';
    const count = open.get(path) ?? { now: 0, most: 0 };
    open.set(path, { now: count.now + 1, most: Math.max(count.most, count.now + 1) });
    response.on('close', () => {
      const after = open.get(path);
      if (after) after.now -= 1;
    });
    void buffer(request).then(async (body) => {
      const hooked = { path, headers: request.headers, body: body.toString() };
      received.push(hooked);
      reply(response, await replyFor(hooked));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: (path) => `https://127.0.0.1:${port}${path}`,
    received,
    open,
    setReply(next) {
      replyFor = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function reply(response: ServerResponse, hookReply: HookReply): void {
  if (hookReply === 'reset') response.destroy();
  if (hookReply === 'silent' || hookReply === 'reset') return;
  response.writeHead(hookReply.status, hookReply.headers);
  response.end(hookReply.body);
}
