import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { request } from 'node:http';
import type pg from 'pg';
import { deriveKey } from '../../../packages/server/src/platform/crypto/hash.ts';
import { emailToken } from '../../../packages/server/src/platform/crypto/email-token.ts';
import type { Target } from '../attack.ts';
import { liftLimits } from '../routes.ts';
import { dataOf, type Victim } from '../victim.ts';

/** An installation on a small machine: a heap of 1 GB, little `work_mem`, and many users in the attacked project. */
export type World = {
  victim: Victim;
  /** An API key of the attacked project. `neighbor` is one of the neighboring project. */
  secret: string;
  neighbor: string;
  neighborId: number;
  /** Set if the neighboring project has a rule, which shows that drafting continues. */
  hasNeighborRule: boolean;
  /** The token of one recipient's email preferences. */
  preferences: string;
  send: (options: RequestOptions) => Promise<number>;
  /** Sends a request of the signed-in owner. */
  dashboard: (requestLine: string, body?: unknown) => Promise<number>;
  /** Sends the same request and throws unless it succeeds. */
  owner: (requestLine: string, body: unknown) => Promise<unknown>;
  /** Delivers one reply to the attacked project's email and returns the last reply code, or 0 if the connection ends earlier. */
  submitEmail: (raw: Buffer) => Promise<number>;
};
export type RequestOptions = {
  requestLine: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
};

const SECRET_KEY = 'the secret key of an installation that is attacked and then removed';
const USERS = 300_000;
const EVENTS = 400_000;
const STEP = 20_000;
const ANSWER_MS = 60_000;

export async function openWorld(target: Target): Promise<World> {
  const victim = await target.ownVictim({
    NODE_OPTIONS: '--max-old-space-size=1024',
    SECRET_KEY,
    LOG_LEVEL: 'warn',
  });
  const { secret } = await victim.newKey(victim.projectId, 'attacked');
  const neighborId = await victim.newProject('Neighbor');
  const neighbor = await victim.newKey(neighborId, 'neighbor');
  await liftLimits(victim);
  const emailId = randomUUID();
  await victim.database(async (db) => {
    for (let from = 0; from < USERS; from += STEP) {
      await db.query(PEOPLE, [victim.projectId, from, from + STEP - 1]);
      await db.query(EMAILS, [victim.projectId, from, from + STEP - 1]);
    }
    await hasPartition(db);
    for (let from = 0; from < EVENTS; from += STEP)
      await db.query(HISTORY, [victim.projectId, from, from + STEP - 1]);
    await db.query(EMAIL, [victim.projectId, randomUUID(), emailId, randomUUID()]);
    await db.query('VACUUM ANALYZE');
    // The setting for a machine with up to 4 GB of memory.
    await db.query("ALTER SYSTEM SET work_mem = '4MB'");
    await db.query('SELECT pg_reload_conf()');
  });
  const keys = [deriveKey(SECRET_KEY, 'email tokens')] as const;
  const name = { projectId: victim.projectId, emailId };
  const replyTo = `r+${emailToken(name, 'reply', keys)}@in.example.com`;
  return {
    victim,
    secret,
    neighbor: neighbor.secret,
    neighborId,
    hasNeighborRule: false,
    preferences: emailToken(name, 'unsubscribe', keys),
    send: (options) => send(victim, options),
    dashboard: (requestLine, body) => {
      const [method = '', path = ''] = requestLine.split(/ (.*)/s);
      const headers = { origin: victim.url, cookie: victim.cookie };
      if (body === undefined)
        return send(victim, { requestLine: `${method} /api/dashboard${path}`, headers });
      return send(victim, {
        requestLine: `${method} /api/dashboard${path}`,
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    },
    owner: (requestLine, body) => dataOf(victim.owner(requestLine, body)),
    submitEmail: (raw) => submitEmail(victim, { to: replyTo, raw }),
  };
}

/** Waits for the partition of this month, which the server creates soon after its start. */
async function hasPartition(db: Pick<pg.Client, 'query'>): Promise<void> {
  for (let tries = 0; tries < PARTITION_TRIES; tries += 1) {
    const { rows } = await db.query(PARTITION);
    if (rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('there is no partition for events of today');
}

const PARTITION_TRIES = 300;
const PARTITION = `
  SELECT FROM pg_inherits WHERE inhparent = 'event'::regclass`;

const USER = `'00000000-0000-4000-8000-' || lpad(n::text, 12, '0')`;
const PEOPLE = `
  INSERT INTO person (project_id, external_user_id, traits, first_seen_at, last_seen_at)
  SELECT $1::bigint, ${USER}, '{"seats": 3, "city": "Bonn"}', now(), now() FROM generate_series($2::int, $3::int) AS n`;
const EMAILS = `
  INSERT INTO person_email (project_id, external_user_id, email, email_lower)
  SELECT $1::bigint, ${USER}, 'user' || n || '@example.com', 'user' || n || '@example.com' FROM generate_series($2::int, $3::int) AS n`;
const HISTORY = `
  INSERT INTO event (project_id, received_at, id, external_user_id, name, properties, occurred_at, accepted_at, seq, suppressed)
  SELECT $1::bigint, now(), gen_random_uuid(), '00000000-0000-4000-8000-' || lpad((n % ${USERS})::text, 12, '0'), 'feature_used',
         '{"feature": "export", "amount": 10}', now(), now(), n, false
  FROM generate_series($2::int, $3::int) AS n`;
const EMAIL = `
  INSERT INTO email (project_id, draft_id, id, rule_id, external_user_id, address, state, counts, claimed_at)
  VALUES ($1, $2, $3, $4, '00000000-0000-4000-8000-000000000001', 'user1@example.com', 'sent', true, now())`;

/** Sends a request on a connection of its own, because a refused body may close it. */
function send({ port }: Victim, { requestLine, headers = {}, body }: RequestOptions): Promise<number> {
  const [method = '', path = ''] = requestLine.split(/ (.*)/s);
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, agent: false, method, path, timeout: ANSWER_MS };
    const clientRequest = request({ ...options, headers: { ...length, ...headers } }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', () => resolve(0));
    });
    clientRequest.on('timeout', () => clientRequest.destroy(new Error('no answer')));
    clientRequest.on('error', () => resolve(0));
    clientRequest.end(body);
  });
}

/** Delivers an email by SMTP. Each command waits for its reply. The content is sent unchanged. */
async function submitEmail(
  { mailInPort }: Victim,
  { to, raw }: { to: string; raw: Buffer },
): Promise<number> {
  const socket = connect(mailInPort, '127.0.0.1');
  socket.setTimeout(ANSWER_MS, () => socket.destroy());
  const commands = [
    'EHLO mx.home.test\r\n',
    'MAIL FROM:<eve@home.test>\r\n',
    `RCPT TO:<${to}>\r\n`,
    'DATA\r\n',
    Buffer.concat([raw, Buffer.from('\r\n.\r\n')]),
  ];
  let code = 0;
  let received = '';
  try {
    for await (const bytes of socket) {
      received += String(bytes);
      // The last line of a reply has a space after its code.
      const [, reply] = /(?:^|\n)(\d{3}) [^\n]*\n$/.exec(received) ?? [];
      if (reply === undefined) continue;
      received = '';
      code = Number(reply);
      const next = commands.shift();
      if (next === undefined || code >= 400) break;
      socket.write(next);
    }
    socket.end('QUIT\r\n');
  } catch {
    return 0;
  }
  return code;
}
