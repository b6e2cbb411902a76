import { afterAll } from 'vitest';
import { createKey } from '../../src/modules/ingest/keys/change-key.ts';
import { decodeChunk } from '../../src/modules/ingest/queue/chunk.ts';
import { type CheckedResponse, sendRequest, type TestRequest } from './http-client.ts';
import { fixedClock, type FixedClock } from '../factories/clock.ts';
import { bodyOf, type Facts } from '../factories/endpoints.ts';
import {
  PEPPER,
  type TestProject,
  testProject,
  type TestServer,
  testServer,
  type TestServerOptions,
} from './server.ts';

/** A server for the tests of one endpoint. Its clock is stopped, and no worker processes what it stores. */
export type EndpointServer = TestServer & { clock: FixedClock };

export async function endpointServer(
  options: Omit<TestServerOptions, 'clock'> & { clock?: FixedClock } = {},
): Promise<EndpointServer> {
  const clock = options.clock ?? fixedClock();
  const server = await testServer({ roles: ['api'], ...options, clock });
  afterAll(() => server.stop());
  return { ...server, clock };
}

/** Starts another process on the same database and with the same clock. */
export function twinOf(server: EndpointServer): Promise<EndpointServer> {
  return endpointServer({ database: server.database, clock: server.clock });
}

export type SendOptions = {
  /** A key other than the caller's. Null sends none. */
  secret?: string | null;
  /** The Idempotency-Key. */
  once?: string;
  /** An object is sent as JSON. By default a valid body is sent. */
  body?: object | string | Uint8Array;
  headers?: TestRequest['headers'];
  query?: string;
  method?: string;
  path?: string;
  /** The server, if it is not the caller's. */
  at?: EndpointServer;
};

export type Caller = TestProject & {
  facts: Facts;
  send(sending?: SendOptions): Promise<CheckedResponse>;
  /** Returns the rows of this project in the database. */
  stored(): Promise<Stored>;
  /** Sets every rate limit of the project. */
  limit(limit: { rate: number; burst: number }): Promise<void>;
  fillQueue(waiting: number): Promise<void>;
};

export type Stored = {
  /** Records in the order of their sequence. */
  records: unknown[];
  /** Chunks by priority and kind, such as `live events`. */
  chunks: string[];
  /** The number of Idempotency-Keys in use. */
  keys: number;
  waiting: number;
};

export const NOTHING_STORED: Stored = { records: [], chunks: [], keys: 0, waiting: 0 };

/** Far more than any test sends: a test of limits sets its own. */
const NO_LIMIT = { rate: 1_000_000, burst: 10_000_000 };

/** Creates a project with a caller for one endpoint. */
export async function newCaller(server: EndpointServer, facts: Facts): Promise<Caller> {
  const project = await testProject(server);
  const caller: Caller = {
    ...project,
    facts,
    send: (sending = {}) =>
      sendRequest((sending.at ?? server).url, requestFor({ secret: project.secret, ...sending }, facts)),
    stored: () => storedOf(server, project.id),
    async limit({ rate, burst }) {
      await server.db.query(
        'UPDATE beckon.rate_limit SET rate = $2, burst = $3, tokens = $3 WHERE project_id = $1',
        [project.id, rate, burst],
      );
    },
    async fillQueue(waiting) {
      await server.db.query('UPDATE beckon.ingest_queue_state SET waiting = $2 WHERE project_id = $1', [
        project.id,
        waiting,
      ]);
    },
  };
  await caller.limit(NO_LIMIT);
  return caller;
}

export async function secondKey({ db }: EndpointServer, projectId: number): Promise<string> {
  const { secret } = await createKey({ db, pepper: PEPPER }, { projectId, label: 'second' });
  return secret;
}

function requestFor(sending: SendOptions, facts: Facts): TestRequest {
  const {
    secret,
    once,
    body = bodyOf(facts),
    headers,
    query = '',
    method = 'POST',
    path = facts.path,
  } = sending;
  return {
    method,
    path: path + query,
    headers: {
      'Content-Type': 'application/json',
      Authorization: secret ? `Bearer ${secret}` : undefined,
      'Idempotency-Key': once,
      ...headers,
    },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  };
}

async function storedOf({ db }: EndpointServer, projectId: number): Promise<Stored> {
  const chunks = await db.query<{ priority: string; kind: string; body: Buffer }>(
    'SELECT priority, kind, body FROM beckon.ingest_queue WHERE project_id = $1 ORDER BY seq',
    [projectId],
  );
  const [counts] = await db.query<{ keys: number; waiting: number }>(
    `SELECT (SELECT count(*) FROM beckon.idempotency WHERE project_id = $1) AS keys,
            (SELECT waiting FROM beckon.ingest_queue_state WHERE project_id = $1) AS waiting`,
    [projectId],
  );
  return {
    records: chunks.flatMap((chunk) => decodeChunk(chunk.body)),
    chunks: chunks.map(({ priority, kind }) => `${priority} ${kind}`),
    keys: counts?.keys ?? 0,
    waiting: counts?.waiting ?? 0,
  };
}
