import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testProject, type TestServer, testServer } from '../../../server/testkit/server.ts';

let server: TestServer;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'beckon-kills-'));
  server = await testServer();
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

const MAIN = new URL('../main.ts', import.meta.url).pathname;
const ROWS = 5_000;
const KILLS = 2;

/** Users repeat with other traits, so a record that is sent twice in the wrong order changes the result. */
const USERS = `id,email,plan,seats\n${lines((n) => {
  const email = n % 500 === 3 ? 'nowhere' : `person${n % 2_500}@example.com`;
  return `u${n % 2_500},${email},plan ${n},${n}`;
})}`;
/** Every tenth row is a duplicate, and some rows are invalid. */
const EVENTS = `user_id,event,timestamp,count\n${lines((n) => {
  const which = n % 10 === 9 ? n - 1 : n;
  const time = n % 700 === 5 ? 'yesterday' : new Date(Date.UTC(2026, 0, 1) + which * 1_000).toISOString();
  return `u${which % 50},feature_used,${time},${which}`;
})}`;

function lines(make: (n: number) => string): string {
  return Array.from({ length: ROWS }, (_, n) => `${make(n)}\n`).join('');
}

test.each([
  ['users', USERS],
  ['events', EVENTS],
] as const)('import of %s › ends with the same result after several kills', async (kind, text) => {
  const whole = await place(kind, text, 'whole');
  expect(await ended(start(whole))).toBe(4);
  const killed = await place(kind, text, 'killed');
  for (let kill = 0; kill < KILLS; kill += 1) {
    const saved = checkpointSaved(killed.folder);
    const child = start(killed);
    await saved;
    child.kill('SIGKILL');
    expect(await ended(child)).toBe('SIGKILL');
  }
  expect(await ended(start(killed))).toBe(4);
  for (const read of [people, events])
    expect(await read(killed.projectId)).toEqual(await read(whole.projectId));
  const rejected = (at: Place): Promise<string> => readFile(`${join(at.folder, FILE)}.rejected.csv`, 'utf8');
  expect(await rejected(killed)).toBe(await rejected(whole));
});

type Place = { kind: string; folder: string; projectId: number; secret: string };
const FILE = 'given.csv';

async function place(kind: string, text: string, name: string): Promise<Place> {
  const { id: projectId, secret } = await testProject(server);
  const at = join(folder, `${kind}-${name}`);
  await mkdir(at);
  await writeFile(join(at, FILE), text);
  return { kind, folder: at, projectId, secret };
}

function start({ kind, folder: cwd, secret }: Place): ChildProcess {
  const env = { ...process.env, BECKON_URL: server.url, BECKON_API_KEY: secret, XDG_CONFIG_HOME: cwd };
  return spawn(process.execPath, [MAIN, kind, 'import', FILE], {
    cwd,
    env,
    stdio: 'ignore',
  });
}

async function ended(child: ChildProcess): Promise<number | string> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return code ?? signal ?? '';
}

/** The server accepted a chunk, and the next ones are in flight. */
function checkpointSaved(at: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(at, (_, name) => {
      if (name !== `${FILE}.beckon-import.json`) return;
      watcher.close();
      resolve();
    });
  });
}

async function people(projectId: number): Promise<object[]> {
  await digested(projectId);
  return server.db.query(
    `SELECT p.external_user_id, p.name, p.plan, p.traits, e.email FROM beckon.person p
     LEFT JOIN beckon.person_email e USING (project_id, external_user_id)
     WHERE project_id = $1 ORDER BY external_user_id`,
    [projectId],
  );
}

function events(projectId: number): Promise<object[]> {
  return server.db.query(
    `SELECT external_user_id, name, properties, occurred_at, suppressed FROM beckon.event
     WHERE project_id = $1 ORDER BY occurred_at, external_user_id`,
    [projectId],
  );
}

async function digested(projectId: number): Promise<void> {
  const waiting = (): Promise<object[]> =>
    server.db.query('SELECT 1 FROM beckon.inbox WHERE project_id = $1 LIMIT 1', [projectId]);
  await expect.poll(waiting, { timeout: 30_000 }).toEqual([]);
}
