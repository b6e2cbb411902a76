import type { Resolver } from '../dns/index.ts';
import { bareHost, checkUrl } from './check-url.ts';
import { createAgents } from './agents.ts';
import { exchange } from './exchange.ts';
import type { OutboundFailure } from './failure.ts';

export type { OutboundFailure } from './failure.ts';

/**
 * Every connection to a name that a customer gave. What it may reach is decided three times: of the URL as it is written, of
 * each address that its name stands for (no other is tried), and of the peer once there is a connection, before a byte of
 * the request is written; nothing is resolved twice. Redirects are answers like any other, answers are not inflated, and
 * whatever the other side does, it ends in time and within a bound of memory.
 *
 * Certificates are verified without exception: who develops without one uses http to a private address, which is the one
 * thing that `allowPrivate` adds beside those addresses themselves. Metadata and link-local addresses stay closed even then.
 */
export type Outbound = {
  post(request: OutboundPost): Promise<OutboundAnswer>;
  /** On a connection of its own: who asks where a name leads wants to know it as of now. */
  get(request: OutboundGet): Promise<OutboundAnswer>;
  /** Whatever is under way ends as a `reset`. Nothing is sent afterwards by who owns it. */
  close(): void;
};

export type OutboundGet = {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Whose connections these are, such as the id of an endpoint: they are kept, reused and bounded apart from all others. */
  key: string;
  /** It is a file that is wanted, of at most so many bytes, and not what somebody's server said. */
  fileMaxBytes?: number;
};
export type OutboundPost = OutboundGet & {
  body: Buffer;
  /** All of it is on its way, and nothing is heard yet. */
  posted?: (() => void) | undefined;
};

export type OutboundAnswer =
  | {
      ok: true;
      status: number;
      retryAfter: string | null;
      /** The beginning of what it said, fit to be shown and stored. */
      answer: string;
      /** Where one was wanted, and it was complete within its bound. */
      file: { type: string; bytes: Buffer } | null;
      ms: number;
    }
  | {
      ok: false;
      error: OutboundFailure;
      detail: string;
      ms: number;
      /** A `reset` on a connection that had served before: the other side may have let go of it, or have read all of this. */
      wasReused?: true;
    };

export type OutboundOptions = {
  allowPrivate: boolean;
  /** Null: the machine's own way, whose few threads a silent name server can hold for all. */
  resolver?: Pick<Resolver, 'addresses'> | null;
  /** Trusted in place of the usual authorities. */
  ca?: string | Buffer;
  /** Including the DNS and TLS. */
  connectMs?: number;
  totalMs?: number;
  idleMs?: number;
};

const CONNECT_MS = 5_000;
const TOTAL_MS = 15_000;
/** Some load balancers forget a connection after a minute without a word; we let go of it long before. */
const IDLE_MS = 30_000;

export function createOutbound(options: OutboundOptions): Outbound {
  const { allowPrivate, resolver = null, ca, totalMs = TOTAL_MS } = options;
  const { connectMs = CONNECT_MS, idleMs = IDLE_MS } = options;
  const agents = createAgents({ allowPrivate, resolver, ca, connectMs, idleMs });
  const live = new Set<() => void>();

  async function send(
    method: 'GET' | 'POST',
    { url: text, headers, key, fileMaxBytes = 0, posted }: OutboundGet & Pick<OutboundPost, 'posted'>,
    body: Buffer | null,
  ): Promise<OutboundAnswer> {
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
      { ...target, method, body, fileMaxBytes, posted, pool: key, reuse: method === 'POST' },
      { totalMs, live },
    );
  }

  return {
    post: (request) => send('POST', request, request.body),
    get: (request) => send('GET', request, null),
    close() {
      for (const stop of live) stop();
      agents.close();
    },
  };
}
