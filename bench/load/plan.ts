/** What one load process is told to do, and what it tells afterwards. Both travel as JSON between two processes. */
export type LoadPlan = {
  host: string;
  port: number;
  request: RequestSpec;
  mode: LoadMode;
  /** Measured time; the warm-up comes before it and is left out of every figure but the `inAll` ones. */
  seconds: number;
  warmupSeconds?: number;
  /** Two processes, or two runs, that must not repeat each other's keys and users need different ones. Random if left out. */
  seed?: number;
};

export type LoadMode =
  /** As fast as the answers come: each connection has one request under way. */
  | { kind: 'closed'; connections: number }
  /** At a rate that no slow answer can lower. Enough connections, or requests queue here (and that counts). */
  | { kind: 'open'; perSecond: number; connections: number; arrivals?: 'even' | 'poisson' };

export type RequestSpec = {
  method: string;
  path: string;
  headers?: Record<string, string>;
  /** API keys, taken in turn. All of one length, because they are patched in place; none: no Authorization header. */
  projects?: string[];
  /** A fresh one, of the shape of a UUID v4, for every request. */
  idempotencyKey: boolean;
  body: BodySpec | null;
  /** How many different users the records name; unique ones in every record if left out. */
  users?: number;
  /** What their names are made from, where several runs are to name the same users; else the run's seed. */
  usersSeed?: number;
};

export type BodySpec =
  | { kind: 'event' | 'user' }
  | { kind: 'batch' | 'bulk-events' | 'bulk-users'; records: number }
  /** Every `{{user}}` in it becomes an external_user_id, every `{{id}}` a number that is never used twice. */
  | { kind: 'text'; text: string };

export type LoadResult = {
  /** Answered requests that were due within the measured time, however late their answers came. */
  requests: number;
  seconds: number;
  /** Answers that came within the measured time, by the second. */
  perSecond: number;
  /** Of `requests`. */
  statuses: Record<string, number>;
  /** Answers of 400 and above, and requests that never got one. */
  errors: number;
  /** Without an answer; `refused` counts attempts to connect, `unreadable` answers without a Content-Length. */
  lost: { refused: number; reset: number; timeout: number; unreadable: number };
  latencyMs: Percentiles;
  /** Open loop: how long after its intended time a request was sent; part of its latency already. */
  latenessMs: Percentiles | null;
  /** Open loop: arrivals that were never sent, because the run ended before a connection was free. */
  unsent: number;
  /** CPU of the load process itself within the measured time. */
  cpuSeconds: number;
  /** Warm-up and drain included: what the server's books must agree with. */
  inAll: { sent: number; records: number; statuses: Record<string, number> };
};

export type Percentiles = {
  p50: number;
  p90: number;
  p95: number;
  p99: number;
  p999: number;
  max: number;
  mean: number;
};
