import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './free-port.ts';

const COMMAND = '/usr/sbin/pgbouncer';

/** Returns why PgBouncer is missing on this machine, or null. */
export function missingPgbouncer(): string | null {
  return existsSync(COMMAND) ? null : 'pgbouncer is not installed';
}

export type Pgbouncer = {
  /** Returns the URL of the same database through the pooler. */
  through(url: string): string;
  log(): Promise<string>;
  stop(): Promise<void>;
};

/** Starts a real pooler in transaction mode in front of this PostgreSQL. With so few connections, each is soon used by another session. */
export async function startPgbouncer(url: string, { poolSize }: { poolSize: number }): Promise<Pgbouncer> {
  const { hostname, port: behind, username, password } = new URL(url);
  const folder = await mkdtemp(join(tmpdir(), 'beckon-pgbouncer-'));
  // It drops root privileges and still needs access.
  await chmod(folder, 0o777);
  const port = await freePort();
  const log = join(folder, 'log');
  const conf = join(folder, 'pgbouncer.ini');
  const key = password === '' ? '' : ` password=${decodeURIComponent(password)}`;
  const server = `host=${hostname} port=${behind} user=${username}${key}`;
  await writeFile(
    conf,
    `[databases]
* = ${server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 1000
logfile = ${log}
`,
  );
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn(COMMAND, [...user, conf], { stdio: 'ignore' });
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      child.kill('SIGINT');
      await gone;
    }
    await rm(folder, { recursive: true, force: true });
  };
  const read = (): Promise<string> => readFile(log, 'utf8').catch(() => '');
  while (!(await isListening(port))) {
    if (child.exitCode !== null) throw new Error(`pgbouncer did not start: ${await read()}`);
    await pause(20);
  }
  return {
    through(direct) {
      const pooled = new URL(direct);
      pooled.hostname = '127.0.0.1';
      pooled.port = String(port);
      return pooled.href;
    },
    log: read,
    stop,
  };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
