import { randomUUID } from 'node:crypto';
import type { Database } from '../../../packages/server/src/platform/db/database.ts';
import { makeLink } from '../../../packages/server/src/modules/workspace/members/links.ts';
import { createRule } from '../../../packages/server/src/modules/rules/write-rule.ts';
import { progress, withClient } from '../fill.ts';
import type { Testbed, Project, Server } from '../testbed.ts';
import { settle } from '../world.ts';

/** A signed-in member in front of Review with this many waiting drafts. */
export type ReviewClient = {
  projectId: number;
  url: string;
  cookies: { name: string; value: string }[];
  request<T>(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<T>;
};

const BULK = 1_000;
const POLL_MS = 250;
const PASSWORD = 'a password for this bench alone';

const RULE = {
  name: 'bench',
  mode: 'autopilot',
  deadline: '48h',
  when: { event: 'bench_happened' },
  steps: [{ draft: { subject: 'Hello {{ user.name }}', body: 'Hi {{ user.name }},\n\nthis is an email.' } }],
};

export async function fill(
  testbed: Testbed,
  { project, drafts }: { project: Project; drafts: number },
): Promise<Server> {
  const { db } = testbed;
  await db.query('UPDATE beckon.rule SET enabled_at = NULL WHERE project_id = $1', [project.id]);
  await createRule(db, { projectId: project.id, document: RULE });
  const server = await testbed.serve('all');
  for (let from = 0; from < drafts; from += BULK) {
    const ids = Array.from({ length: Math.min(BULK, drafts - from) }, (_, n) => `user_${from + n}`);
    const users = ids.map((id) => ({
      external_user_id: id,
      email: `${id}@example.com`,
      traits: { name: `Name of ${id}` },
    }));
    await send({ server, project }, 'users/bulk', { users });
    const events = ids.map((id) => ({
      external_user_id: id,
      name: 'bench_happened',
      message_id: randomUUID(),
    }));
    await send({ server, project }, 'events/batch', { events });
    if (from % (10 * BULK) === 0) progress(`users and events: ${from + ids.length} of ${drafts} sent`);
  }
  await untilDrafted(db, { project, drafts });
  // In production the drafts arrive over days, and autovacuum has analyzed their tables by then.
  await settle(testbed.url);
  return server;
}

type ServerProject = { server: Server; project: Project };

/** A full queue says when to retry. */
async function send({ server, project }: ServerProject, path: string, body: object): Promise<void> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${server.port}/api/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${project.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (answer.ok) return;
    if (answer.status !== 429) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 200)}`);
    await pause(Number(answer.headers.get('retry-after')) * 1_000);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Adds users without events until there are this many. */
export async function fillUsers(testbed: Testbed, project: Project, users: number): Promise<void> {
  await withClient(testbed.url, async (client) => {
    await client.query(
      `INSERT INTO beckon.person (project_id, external_user_id, name, plan, company, traits, first_seen_at, last_seen_at)
       SELECT $1, 'user_' || n, 'Name of user_' || n, CASE WHEN n % 4 = 0 THEN 'pro' ELSE 'trial' END, 'Company ' || n % 1000,
         '{"seats": 5}', now() - n * interval '1 s', now() - n % 1000 * interval '1 min'
       FROM generate_series(1, $2::int) n ON CONFLICT DO NOTHING`,
      [project.id, users],
    );
    await client.query(
      `INSERT INTO beckon.person_email (project_id, external_user_id, email, email_lower)
       SELECT $1, 'user_' || n, 'user_' || n || '@example.com', 'user_' || n || '@example.com'
       FROM generate_series(1, $2::int) n ON CONFLICT DO NOTHING`,
      [project.id, users],
    );
  });
  await settle(testbed.url);
}

async function untilDrafted(
  db: Database,
  { project, drafts }: { project: Project; drafts: number },
): Promise<void> {
  for (;;) {
    const [row] = await db.query<{ count: number; waiting: number }>(
      `SELECT count(*) AS count, (SELECT waiting FROM beckon.ingest_queue_state WHERE project_id = $1) AS waiting
       FROM beckon.draft WHERE project_id = $1 AND ended_at IS NULL`,
      [project.id],
    );
    if (row && row.count >= drafts && row.waiting === 0) break;
    await pause(POLL_MS);
  }
}

export async function signIn(testbed: Testbed, { server, project }: ServerProject): Promise<ReviewClient> {
  const url = `http://localhost:${server.port}`;
  const { token } = await makeLink(testbed.db, { kind: 'setup', createdBy: 'bench' }, Date.now());
  const headers = { origin: url, 'content-type': 'application/json' };
  const body = { token, email: 'ada@example.com', password: PASSWORD, project: 'Own' };
  const answer = await fetch(`${url}/api/dashboard/setup`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`set-up answered ${answer.status}: ${await answer.text()}`);
  const pairs = answer.headers.getSetCookie().map((setCookie) => setCookie.split(';', 1)[0] ?? '');
  const cookie = pairs.join('; ');
  return {
    projectId: project.id,
    url,
    cookies: pairs.map((pair) => {
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      return { name, value };
    }),
    async request(method, path, payload) {
      const response = await fetch(`${url}/api/dashboard${path}`, {
        method,
        headers: { ...headers, cookie },
        ...(payload ? { body: JSON.stringify(payload) } : {}),
      });
      const text = await response.text();
      if (!response.ok)
        throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 200)}`);
      return JSON.parse(text) as never;
    },
  };
}
