import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { freePort } from '../servers/free-port.ts';

/**
 * A real server over a real data directory, killed while clients write, with a journal of all acknowledged requests. Everything in the
 * journal must be in the database exactly once.
 */
export type Survivor = {
  url: string;
  start(): Promise<void>;
  /** Kills the server with SIGKILL. The caller restarts it, as a service manager would. */
  killServer(): Promise<void>;
  /** Kills all PostgreSQL processes with SIGKILL. The server restarts PostgreSQL automatically. */
  killPostgres(): void;
  stop(): Promise<void>;
  /** Runs a command of `beckon-server`. */
  command(args: string[]): Promise<unknown>;
  /** Runs a command of `beckon`, over the local socket of the running server. */
  product(args: string[]): Promise<unknown>;
};

const MAIN = new URL('../../src/main/main.ts', import.meta.url).pathname;
const COMMAND_LINE = new URL('../../../cli/src/main.ts', import.meta.url).pathname;

/** `more`: additional environment variables. */
export async function survivor(dataDir: string, more: Record<string, string> = {}): Promise<Survivor> {
  const port = await freePort();
  const env = {
    ...process.env,
    DATA_DIR: dataDir,
    PORT: String(port),
    MAIL_IN_PORT: '0',
    LOG_LEVEL: 'warn',
    ...more,
  };
  let server: ChildProcess | null = null;

  async function start(): Promise<void> {
    server = spawn(process.execPath, [MAIN, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: server.stdout as NodeJS.ReadableStream });
    let ready = false;
    for await (const line of lines) if ((ready = line.includes('Beckon is ready'))) break;
    if (!ready) throw new Error('the server did not start');
    server.stdout?.resume();
  }

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, 'exit');
    server.kill(signal);
    await gone;
  }

  async function run(args: string[]): Promise<unknown> {
    const child = spawn(process.execPath, [...args, '--json'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    const [code] = (await once(child, 'close')) as [number];
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
  }

  return {
    url: `http://127.0.0.1:${port}`,
    start,
    killServer: () => end('SIGKILL'),
    killPostgres: () => killTree(postmasterPid(dataDir)),
    stop: () => end('SIGTERM'),
    command: (args) => run([MAIN, ...args]),
    product: (args) => run([COMMAND_LINE, ...args]),
  };
}

function postmasterPid(dataDir: string): number {
  return Number(readFileSync(`${dataDir}/postgres/postmaster.pid`, 'utf8').split('\n')[0]);
}

function killTree(pid: number): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean);
  for (const each of [pid, ...children.map(Number)]) {
    try {
      process.kill(each, 'SIGKILL');
    } catch {
      // It has exited already: the death of the postmaster ends its children.
    }
  }
}

export type Write = { key: string; body: string; path: string; events: string[] };
export type Journal = { acknowledged: Map<Write, string>; attempts: number; failures: number };

/** Clients that write until they are stopped, and retry every unanswered request with its key. */
export type Target = { url: string; secret: string };

export function writers(target: Target, clients: number): { journal: Journal; stop(): Promise<void> } {
  const journal: Journal = { acknowledged: new Map(), attempts: 0, failures: 0 };
  const state = { stopping: false, next: 0 };
  const run = randomUUID().slice(0, 8);
  const running = Array.from({ length: clients }, async () => {
    while (!state.stopping) {
      const write = newWrite(run, (state.next += 1));
      const body = await insist(target, write, journal);
      journal.acknowledged.set(write, body);
    }
  });
  return {
    journal,
    async stop() {
      state.stopping = true;
      await Promise.all(running);
    },
  };
}

/** Every fifth write is a batch of three, so that chunks hold more than one record of a request. */
function newWrite(run: string, n: number): Write {
  const names = n % 5 === 0 ? ['a', 'b', 'c'].map((part) => `${run}-${n}${part}`) : [`${run}-${n}`];
  const events = names.map((name) => ({ external_user_id: `u${n % 100}`, name }));
  const batch = events.length > 1;
  return {
    key: randomUUID(),
    path: batch ? '/api/v1/events/batch' : '/api/v1/events',
    body: JSON.stringify(batch ? { events } : events[0]),
    events: names,
  };
}

async function insist(target: Target, write: Write, journal: Journal): Promise<string> {
  journal.attempts += 1;
  const response = await sendUntilAccepted(target, write, () => {
    journal.attempts += 1;
    journal.failures += 1;
  });
  return response.body;
}

/** Retries with the same key in every case that a client may retry: no response, 5xx and 429. */
async function sendUntilAccepted(target: Target, write: Write, onRetry: () => void): Promise<WriteResponse> {
  for (;;) {
    const response = await send(target, write).catch(() => null);
    if (response?.status === 202) return response;
    if (response && response.status < 500 && response.status !== 429) {
      throw new Error(`refused: ${response.status} ${response.body}`);
    }
    onRetry();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

type WriteResponse = { status: number; body: string; replayed: boolean };

async function send({ url, secret }: Target, write: Write): Promise<WriteResponse> {
  const response = await fetch(`${url}${write.path}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${secret}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': write.key,
    },
    body: write.body,
    signal: AbortSignal.timeout(10_000),
  });
  const replayed = response.headers.get('idempotent-replayed') === 'true';
  return { status: response.status, body: await response.text(), replayed };
}

export type SurvivalResult = {
  acknowledged: number;
  missing: string[];
  doubled: string[];
  otherBytes: number;
};

/** Compares the journal with the database. For a sample it also compares the response to a retry with the same key. */
export async function examine(
  survivor: Survivor,
  dataDir: string,
  { journal, secret, replays }: { journal: Journal; secret: string; replays: number },
): Promise<SurvivalResult> {
  const written = [...journal.acknowledged.keys()];
  let otherBytes = 0;
  for (const write of written.slice(-replays)) {
    const again = await sendUntilAccepted({ url: survivor.url, secret }, write, () => {});
    if (!again.replayed || again.body !== journal.acknowledged.get(write)) otherBytes += 1;
  }
  const counts = await countEvents(dataDir);
  const names = written.flatMap((write) => write.events);
  return {
    acknowledged: names.length,
    missing: names.filter((name) => !counts.has(name)),
    doubled: [...counts].flatMap(([name, count]) => (count > 1 ? [name] : [])),
    otherBytes,
  };
}

/** Waits until no record waits, then counts how often each event was stored. */
async function countEvents(dataDir: string): Promise<Map<string, number>> {
  const client = new pg.Client(embeddedAddress(dataDir));
  await client.connect();
  try {
    while ((await client.query('SELECT 1 FROM beckon.ingest_queue LIMIT 1')).rowCount !== 0)
      await new Promise((resolve) => setTimeout(resolve, 20));
    const { rows } = await client.query<{ name: string; count: number }>(
      'SELECT name, count(*)::int AS count FROM beckon.event GROUP BY name',
    );
    return new Map(rows.map(({ name, count }) => [name, count]));
  } finally {
    await client.end();
  }
}

export function embeddedAddress(dataDir: string): pg.ClientConfig {
  const facts = JSON.parse(readFileSync(`${dataDir}/postgres.json`, 'utf8')) as pg.ClientConfig;
  const { user, password, port } = facts;
  return { user, password, port, host: '127.0.0.1', database: 'beckon' } as pg.ClientConfig;
}
