import type { Resolver } from '../dns/resolver.ts';
import { bareHost, checkUrl } from './check-url.ts';
import { createAgents } from './agents.ts';
import { exchange, type OutboundResponse } from './exchange.ts';

export type { OutboundFailure } from './failure.ts';

/**
 * All connections to hosts that customers name. The target is checked three times. The first check is of the URL as written, the second of
 * each address that the name resolves to (only those are tried). The third is of the connected peer, before a byte of the request is
 * written. No name is resolved twice. Redirects are answers like any other, answers are not decompressed, and every request ends within a
 * bound of time and memory.
 *
 * Certificates are always verified. To develop without one, use http to a private address: this and private addresses themselves are all
 * that `allowPrivate` adds. Metadata and link-local addresses stay closed even then.
 */
export type Outbound = {
  post(request: OutboundPost): Promise<OutboundResponse>;
  /** Uses a separate connection, because the caller needs the current target of the name. */
  get(request: OutboundGet): Promise<OutboundResponse>;
  /** Ends all requests in progress as a `reset`. The owner sends no request afterwards. */
  close(): void;
};

export type OutboundGet = {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** The owner of these connections, such as the id of an endpoint: they are kept, reused and limited separately. */
  key: string;
  /** Set if a file is expected, of at most this many bytes, and not a server's message. */
  fileMaxBytes?: number;
};
export type OutboundPost = OutboundGet & {
  body: Buffer;
  /** By default POST. */
  method?: 'PATCH' | undefined;
  /** Called when the whole request was sent, and no answer has arrived yet. */
  posted?: (() => void) | undefined;
};

export type OutboundBounds = Pick<OutboundOptions, 'totalMs' | 'idleMs'>;

export type OutboundOptions = {
  allowPrivate: boolean;
  /** Null: the resolver of the system, whose few threads one silent name server can block. */
  resolver?: Pick<Resolver, 'addresses'> | null;
  /** Trusted instead of the usual authorities. */
  ca?: string | Buffer;
  /** Includes DNS and TLS. */
  connectMs?: number;
  totalMs?: number;
  idleMs?: number;
};

const CONNECT_MS = 5_000;
const TOTAL_MS = 15_000;
/** Some load balancers drop a connection after a minute of silence; we close it long before. */
const IDLE_MS = 30_000;

export function createOutbound(options: OutboundOptions): Outbound {
  const { allowPrivate, resolver = null, ca, totalMs = TOTAL_MS } = options;
  const { connectMs = CONNECT_MS, idleMs = IDLE_MS } = options;
  const agents = createAgents({ allowPrivate, resolver, ca, connectMs, idleMs });
  const live = new Set<() => void>();

  async function send(
    method: 'GET' | 'POST' | 'PATCH',
    { url: text, headers, key, fileMaxBytes = 0, posted }: OutboundGet & Pick<OutboundPost, 'posted'>,
    body: Buffer | null,
  ): Promise<OutboundResponse> {
    const checked = checkUrl(text, { allowPrivate });
    if (!checked.ok) return { ok: false, error: 'blocked', detail: checked.why, ms: 0 };
    const { protocol, port, pathname, search, host } = checked.url;
    const target = {
      protocol,
      host: bareHost(checked.url),
      port: port === '' ? undefined : Number(port),
      path: pathname + search,
      headers: { ...headers, host, ...(body ? { 'content-length': String(body.byteLength) } : {}) },
    };
    return exchange(
      agents,
      { ...target, method, body, fileMaxBytes, posted, pool: key, reuse: method !== 'GET' },
      { totalMs, live },
    );
  }

  return {
    post: (request) => send(request.method ?? 'POST', request, request.body),
    get: (request) => send('GET', request, null),
    close() {
      for (const stop of live) stop();
      agents.close();
    },
  };
}
