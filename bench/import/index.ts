import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { quantile, usageOf } from '../measure.ts';
import { percent, ratio, round, show } from '../print.ts';
import { type Ground, openGround } from '../stage.ts';
import { waitingOf } from '../digest/waiting.ts';
import { sendBare } from './bare.ts';

const USERS = 1_000_000;
const QUICK_USERS = 100_000;
const CHUNK = 1_000;
const MAIN = new URL('../../packages/cli/src/main.ts', import.meta.url).pathname;

/**
 * `npm run bench -- import [--quick | --users=N]`: a CSV file of users through the command line, from its start until the server
 * has applied the last of them; before it the same users, sent by a bare sender. Both go to a project of their own.
 */
export async function benchImport(args: string[]): Promise<void> {
  const given = args.find((arg) => arg.startsWith('--users='))?.slice('--users='.length);
  const users = Number(given ?? (args.includes('--quick') ? QUICK_USERS : USERS));
  await show(
    `A CSV file of ${round(users)} users (≥ 0.8 of the bare rate; memory as much at the end as at a quarter)`,
    [
      '',
      'users',
      's',
      'users /s',
      'ratio',
      'RSS at ¼',
      'RSS at the end',
      'RSS max',
      'progress lines',
      'queue empty',
    ],
    () => imported(users),
  );
}

async function imported(users: number): Promise<string[][]> {
  const ground = await openGround();
  const folder = await mkdtemp(join(tmpdir(), 'beckon-bench-import-'));
  try {
    const { port } = await ground.serve('all');
    await writeCsv(join(folder, 'users.csv'), users);
    const bareS = await bare(ground, port, users);
    const { seconds, rss, lines, idle } = await viaCommandLine(ground, port, { folder, users });
    const quarter = rss.slice(0, Math.ceil(rss.length / 4));
    const last = rss.slice(-Math.ceil(rss.length / 4));
    const mib = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MiB`;
    return [
      ['bare', round(users), bareS.toFixed(1), round(users / bareS), '', '', '', '', '', ''],
      [
        'beckon users import',
        round(users),
        seconds.toFixed(1),
        round(users / seconds),
        ratio(bareS / seconds),
        mib(quantile(quarter, 0.9)),
        mib(quantile(last, 0.5)),
        mib(Math.max(...rss)),
        String(lines),
        percent(idle),
      ],
    ];
  } finally {
    await ground.close();
    await rm(folder, { recursive: true, force: true });
  }
}

type User = { external_user_id: string; email: string; traits: Record<string, string | number | boolean> };

function userOf(n: number): User {
  return {
    external_user_id: `user-${n}`,
    email: `person${n}@example.com`,
    traits: {
      name: `Person ${n}`,
      plan: n % 3 === 0 ? 'pro' : 'free',
      company: `Company ${n % 1_000}`,
      signupDate: '2026-02-01T00:00:00.000Z',
      seats: n % 50,
      active: n % 2 === 0,
    },
  };
}

async function writeCsv(path: string, users: number): Promise<void> {
  const file = await open(path, 'w');
  await file.write('id,email,name,plan,company,created_at,seats,active\n');
  for (let from = 0; from < users; from += CHUNK) {
    const lines = range(from, users).map((n) => {
      const { external_user_id: id, email, traits } = userOf(n);
      return `${[id, email, ...Object.values(traits)].join(',')}\n`;
    });
    await file.write(lines.join(''));
  }
  await file.close();
}

function range(from: number, users: number): number[] {
  return Array.from({ length: Math.min(CHUNK, users - from) }, (_, n) => from + n);
}

async function bare(ground: Ground, port: number, users: number): Promise<number> {
  const { id, secret } = await ground.project();
  const bodies: string[] = [];
  for (let from = 0; from < users; from += CHUNK)
    bodies.push(JSON.stringify({ users: range(from, users).map(userOf) }));
  const startedAt = performance.now();
  await sendBare(port, secret, bodies);
  await applied(ground.db, id, users);
  return (performance.now() - startedAt) / 1_000;
}

type Imported = {
  seconds: number;
  rss: number[];
  lines: number;
  /** Of the time, in which the server had nothing to do. */ idle: number;
};

async function viaCommandLine(
  ground: Ground,
  port: number,
  { folder, users }: { folder: string; users: number },
): Promise<Imported> {
  const { id, secret } = await ground.project();
  const env = {
    ...process.env,
    BECKON_URL: `http://127.0.0.1:${port}`,
    BECKON_API_KEY: secret,
    XDG_CONFIG_HOME: folder,
  };
  const startedAt = performance.now();
  const child = spawn(process.execPath, [MAIN, 'users', 'import', 'users.csv'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const rss: number[] = [];
  const waiting: number[] = [];
  const sampling = setInterval(() => {
    rss.push(usageOf(child.pid ?? 0).rssBytes);
    waitingOf(ground.db, id).then(
      (records) => waiting.push(records),
      () => {},
    );
  }, 250);
  const exited = once(child, 'exit') as Promise<[number]>;
  let lines = 0;
  for await (const line of createInterface({ input: child.stdout }))
    if (line.includes('"progress"')) lines += 1;
  const [code] = await exited;
  clearInterval(sampling);
  if (code !== 0) throw new Error(`beckon users import ended with ${code}`);
  await applied(ground.db, id, users);
  // Before the first request nothing can wait.
  const idle = waiting.slice(waiting.findIndex((records) => records > 0)).filter((records) => records === 0);
  return {
    idle: idle.length / Math.max(1, waiting.length),
    seconds: (performance.now() - startedAt) / 1_000,
    rss: rss.filter((bytes) => bytes > 0),
    lines,
  };
}

async function applied(db: Ground['db'], projectId: number, users: number): Promise<void> {
  while ((await waitingOf(db, projectId)) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  const [row] = await db.query<{ people: number }>(
    'SELECT count(*)::int AS people FROM beckon.person WHERE project_id = $1',
    [projectId],
  );
  if (row?.people !== users) throw new Error(`of ${users} users ${row?.people} are there`);
}
