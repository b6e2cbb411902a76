import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { Agent, request as ask } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { freePort } from '../../packages/server/testing/servers/free-port.ts';
import { embeddedAddress } from '../../packages/server/testing/oracles/survival.ts';

/** A real installation to attack, set up as its owner would set it up. */
export type Victim = {
  url: string;
  port: number;
  mailInPort: number;
  dataDir: string;
  /** The project created during setup. */
  projectId: number;
  /** The owner's cookie, as a browser sends it. */
  cookie: string;
  /** Sends one request as the owner's page would send it. */
  owner(requestLine: string, body?: unknown): Promise<Reply>;
  /** Sends any request. */
  send(requestLine: string, options?: SendOptions): Promise<Reply>;
  newKey(projectId: number, label: string): Promise<{ id: string; secret: string }>;
  newProject(name: string): Promise<number>;
  command<T>(...args: string[]): Promise<T>;
  /** Runs a command of `beckon` over the local socket. */
  product<T>(...args: string[]): Promise<T>;
  database<T>(act: (client: pg.Client) => Promise<T>): Promise<T>;
  /** Returns all output of the process since the installation was created. */
  log(): string;
  pid(): number;
  stop(): Promise<void>;
  /** Starts it with additional environment variables. */
  start(extraEnv?: Record<string, string>): Promise<void>;
  remove(): Promise<void>;
};

export type Reply = { status: number; headers: NodeJS.Dict<string | string[]>; text: string; json: unknown };
export type SendOptions = { headers?: Record<string, string | string[]>; body?: string | Uint8Array };

const ROOT = new URL('../..', import.meta.url).pathname;
const MAIN = join(ROOT, 'packages/server/src/main/main.ts');
const COMMAND_LINE = join(ROOT, 'packages/cli/src/main.ts');
export const OWNER = { email: 'ada@example.com', password: 'correct horse battery staple' };
const ANSWER_MS = 60_000;
const READY_MS = 120_000;

export type VictimOptions = {
  /** Additional environment variables. */
  env?: Record<string, string>;
  /** The program under which it runs, with arguments. */
  wrapper?: string[];
  /** False where the server itself serves HTTPS: such an installation is not set up, only connected to. */
  isSetUp?: boolean;
};

export async function newVictim({
  env = {},
  wrapper = [],
  isSetUp = true,
}: VictimOptions = {}): Promise<Victim> {
  const dataDir = await mkdtemp(join(tmpdir(), 'beckon-attacks-'));
  // PostgreSQL does not run as root and needs access to this directory.
  await chmod(dataDir, 0o755);
  const [port, mailInPort] = [await freePort(), await freePort()];
  const logFile = join(dataDir, 'log.txt');
  appendFileSync(logFile, '');
  let environment: NodeJS.ProcessEnv = {
    ...process.env,
    DATA_DIR: join(dataDir, 'data'),
    PORT: String(port),
    MAIL_IN_PORT: String(mailInPort),
    MAIL_DOMAIN: 'in.example.com',
    LOG_LEVEL: 'debug',
    ...env,
  };
  let server: ChildProcess | null = null;
  let setupLink = '';
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  const url = `http://localhost:${port}`;
  // If the public URL uses HTTPS, the owner's requests come through a proxy.
  const origin = env['PUBLIC_URL'] ?? url;
  const forwarded = origin.startsWith('https:') ? { 'x-forwarded-proto': 'https' } : {};

  async function start(extraEnv: Record<string, string> = {}): Promise<void> {
    environment = { ...environment, ...extraEnv };
    const [program = process.execPath, ...args] = [...wrapper, process.execPath, MAIN, 'serve'] as string[];
    const child = spawn(program, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    server = child;
    child.stderr.on('data', (bytes: Buffer) => appendFileSync(logFile, bytes));
    const ready = new Promise<void>((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        setupLink = /https?:\S+\/setup\?\S+/.exec(line)?.[0] ?? setupLink;
        // The setup link is printed for the owner and is not part of the log.
        if (!line.includes('/setup?')) appendFileSync(logFile, `${line}\n`);
        if (line.includes('Beckon is ready')) resolve();
      });
      child.once('exit', (code) =>
        reject(new Error(`the server exited with ${code}: ${readFileSync(logFile, 'utf8').slice(-1_000)}`)),
      );
      setTimeout(() => reject(new Error('the server did not become ready')), READY_MS).unref();
    });
    await ready;
  }

  async function stop(): Promise<void> {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill('SIGTERM');
    await exited;
  }

  const send = (requestLine: string, { headers = {}, body }: SendOptions = {}): Promise<Reply> => {
    const [method, path] = splitOnce(requestLine);
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const request = ask(
        {
          host: '127.0.0.1',
          port,
          agent,
          method,
          path,
          headers: { ...length, ...headers },
          timeout: ANSWER_MS,
        },
        (response) => {
          response.toArray().then((chunks: Buffer[]) => {
            const text = Buffer.concat(chunks).toString();
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              json: readJson(text),
            });
          }, reject);
        },
      );
      request.on('timeout', () => request.destroy(new Error(`no response to ${requestLine.slice(0, 200)}`)));
      request.on('error', reject);
      request.end(body);
    });
  };

  const victim: Victim = {
    url,
    port,
    mailInPort,
    dataDir: join(dataDir, 'data'),
    projectId: 0,
    cookie: '',
    owner(requestLine, body) {
      const [method, path] = splitOnce(requestLine);
      const headers = {
        ...forwarded,
        origin,
        cookie: victim.cookie,
        ...(body === undefined ? {} : JSON_BODY),
      };
      const payload =
        body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
      return send(`${method} /api/dashboard${path}`, { headers, ...payload });
    },
    send,
    async newKey(projectId, label) {
      return (await dataOf(victim.owner(`POST /projects/${projectId}/keys`, { label }))) as never;
    },
    async newProject(name) {
      return ((await dataOf(victim.owner('POST /projects', { name }))) as { id: number }).id;
    },
    command: (...args) => run([MAIN, ...args, '--json'], environment) as never,
    product: (...args) => run([COMMAND_LINE, ...args, '--json'], environment) as never,
    async database(act) {
      const client = new pg.Client({ ...embeddedAddress(victim.dataDir), options: '-c search_path=beckon' });
      await client.connect();
      try {
        return await act(client);
      } finally {
        await client.end();
      }
    },
    log: () => readFileSync(logFile, 'utf8'),
    pid: () => server?.pid ?? 0,
    stop,
    start,
    async remove() {
      agent.destroy();
      await stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  try {
    await start();
    if (isSetUp) await setUp(victim, setupLink);
  } catch (error) {
    await victim.remove();
    throw error;
  }
  return victim;
}

export const JSON_BODY = { 'content-type': 'application/json' };

async function setUp(victim: Victim, link: string): Promise<void> {
  const token = new URL(link).searchParams.get('token');
  const reply = await victim.owner('POST /setup', {
    token,
    ...OWNER,
    project: 'Acme',
    time_zone: 'Europe/Berlin',
  });
  if (reply.status !== 200) throw new Error(`setup failed: ${reply.text} ${victim.log().slice(-2_000)}`);
  victim.projectId = (reply.json as { data: { project_id: number } }).data.project_id;
  victim.cookie = cookieOf(reply);
}

function cookieOf({ headers }: Reply): string {
  return [headers['set-cookie'] ?? []]
    .flat()
    .map((line) => line.split(';', 1)[0])
    .join('; ');
}

/** Returns the data of a successful response. */
export async function dataOf(reply: Promise<Reply>): Promise<unknown> {
  const { status, text, json } = await reply;
  if (status >= 300) throw new Error(`the response was ${status}: ${text.slice(0, 500)}`);
  return (json as { data: unknown }).data;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function splitOnce(requestLine: string): [string, string] {
  const at = requestLine.indexOf(' ');
  return [requestLine.slice(0, at), requestLine.slice(at + 1)];
}

async function run(args: string[], env: NodeJS.ProcessEnv): Promise<unknown> {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, errors]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (bytes: Buffer) => out.push(bytes));
  child.stderr.on('data', (bytes: Buffer) => errors.push(bytes));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0)
    throw new Error(`${args.join(' ')} ended with ${code}: ${Buffer.concat(errors).toString()}`);
  return readJson(Buffer.concat(out).toString());
}
