import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseAccount, isRoot } from '../packages/postgres/src/account.ts';
import { runOnCluster } from './on-cluster.ts';
import { freePort } from '../packages/server/testing/servers/free-port.ts';

/**
 * `npm run test:postgres -- [--bin DIR] [files …]` runs the suite, or some of its files, over a PostgreSQL of the system instead of the
 * embedded one. Without `--bin` it uses the oldest that Debian's packages installed. Without one it reports that and exits with 0.
 * `--print-bin` prints the directory of that PostgreSQL, or nothing, and runs no test. `--cluster` runs the server's tests on a distributed
 * cluster instead (`on-cluster.ts`).
 */
const DEBIAN = '/usr/lib/postgresql';
/** Enough for two test workers with several servers each. */
const CONNECTIONS = 300;
const TRIES = 300;

const args = process.argv.slice(2);
const at = args.indexOf('--bin');
const binOption = at < 0 ? undefined : args.splice(at, 2)[1];
const bin = binOption ?? (await oldestInstalled());
if (args.includes('--cluster')) process.exitCode = runOnCluster(args.filter((arg) => arg !== '--cluster'));
else if (args.includes('--print-bin')) {
  if (bin !== null) console.log(bin);
} else if (bin === null)
  console.log(`skipped: there is no PostgreSQL in ${DEBIAN}; --bin names another directory`);
else process.exitCode = await runOver(bin);

async function oldestInstalled(): Promise<string | null> {
  const versions = await readdir(DEBIAN).catch(() => []);
  const [oldest] = versions.filter((name) => Number(name) >= 15).toSorted((a, b) => Number(a) - Number(b));
  return oldest === undefined ? null : join(DEBIAN, oldest, 'bin');
}

async function runOver(binDir: string): Promise<number> {
  const account = isRoot() ? await chooseAccount(0) : null;
  const as = account ? { uid: account.uid, gid: account.gid } : {};
  const dir = await mkdtemp(join(tmpdir(), 'beckon-postgres-'));
  if (account) await chown(dir, account.uid, account.gid);
  const data = join(dir, 'data');
  const run = (program: string, ...options: string[]): string =>
    execFileSync(join(binDir, program), options, { ...as, cwd: dir, encoding: 'utf8' });
  run('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-instructions');
  const port = await freePort();
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    `max_connections=${CONNECTIONS}`,
  ];
  const server = spawn(join(binDir, 'postgres'), ['-D', data, ...settings.flatMap((each) => ['-c', each])], {
    ...as,
    cwd: dir,
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  try {
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    await waitUntilReady(binDir, port);
    console.log(`${run('postgres', '--version').trim()} in ${binDir}`);
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...args];
    const env = { ...process.env, TEST_DATABASE_URL: url };
    return spawnSync(process.execPath, vitest, { stdio: 'inherit', env }).status ?? 1;
  } finally {
    const gone = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGINT');
    await gone;
    await rm(dir, { recursive: true, force: true });
  }
}

async function waitUntilReady(binDir: string, port: number): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { status } = spawnSync(join(binDir, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port), '-q']);
    if (status === 0) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
  throw new Error('PostgreSQL did not begin to answer');
}
