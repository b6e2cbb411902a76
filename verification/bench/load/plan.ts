/** The input of one load process, and its result. Both travel as JSON between two processes. */
export type LoadPlan = {
  host: string;
  port: number;
  request: RequestSpec;
  mode: LoadMode;
  /** The measured time. The warm-up comes before it and is left out of every figure except those in `inAll`. */
  seconds: number;
  warmupSeconds?: number;
  /** Ends the run after this many requests, if the time is not over before. Those of the warm-up count. */
  requestsMax?: number;
  /** Two processes or runs that must not repeat each other's keys and users need different seeds. Random if omitted. */
  seed?: number;
};

export type LoadMode =
  /** Sends as fast as responses come: each connection has one request under way. */
  | { kind: 'closed'; connections: number }
  /** Sends at a rate that no slow response can lower. With too few connections, requests queue here, and that counts. */
  | { kind: 'open'; perSecond: number; connections: number; arrivals?: 'even' | 'poisson' };

export type RequestSpec = {
  method: string;
  path: string;
  headers?: Record<string, string>;
  /** API keys, used in turn. All have the same length, because they are patched in place. Without keys there is no Authorization header. */
  projects?: string[];
  /** Sends a new key in the shape of a UUID v4 with every request. */
  idempotencyKey: boolean;
  body: BodySpec | null;
  /** The number of different users in the records. If omitted, every record has a unique user. */
  users?: number;
  /** The seed of their names, for several runs with the same users. If omitted, the run's seed. */
  usersSeed?: number;
};

export type BodySpec =
  | { kind: 'event' | 'user' }
  | { kind: 'batch' | 'bulk-events' | 'bulk-users'; records: number }
  /** Every `{{user}}` in the text becomes an external_user_id, every `{{id}}` a number that is never used twice. */
  | { kind: 'text'; text: string };

export type LoadResult = {
  /** Answered requests that were due within the measured time, however late their responses came. */
  requests: number;
  seconds: number;
  /** Responses within the measured time, per second. */
  perSecond: number;
  /** The statuses of `requests`. */
  statuses: Record<string, number>;
  /** Responses of 400 and above, and requests without a response. */
  errors: number;
  /** Requests without a response. `refused` counts connection attempts, `unreadable` counts responses without a Content-Length. */
  lost: { refused: number; reset: number; timeout: number; unreadable: number };
  latencyMs: Percentiles;
  /** Open loop: how long after its intended time a request was sent. Its latency includes this time. */
  latenessMs: Percentiles | null;
  /** Open loop: arrivals that were never sent, because the run ended before a connection was free. */
  unsent: number;
  /** CPU time of the load process itself within the measured time. */
  cpuSeconds: number;
  /** Totals including warm-up and drain, which the server's own counts must match. */
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
