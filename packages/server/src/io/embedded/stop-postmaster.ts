import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { program } from './binaries.ts';
import type { Home } from './home.ts';
import { commandOf } from './process-command.ts';
import { waitUntil } from './wait-until.ts';

const run = promisify(execFile);

/** Fast (roll back and write everything out), then at once (recovery at the next start), then by force. */
const STEPS = [
  { signal: 'INT', forMs: 30_000 },
  { signal: 'QUIT', forMs: 10_000 },
  { signal: 'KILL', forMs: 5_000 },
] as const;
const LOOK_EVERY_MS = 10;

/** The caller holds the users' lock exclusively. Returns how far we had to go; the process is gone then. */
export async function stopPostmaster(home: Home, pid: number): Promise<'INT' | 'QUIT' | 'KILL' | 'none'> {
  for (const { signal, forMs } of STEPS) {
    await sendSignal(home, { pid, signal });
    const gone = async (): Promise<true | undefined> => ((await commandOf(pid)) === null ? true : undefined);
    if (await waitUntil(gone, { everyMs: LOOK_EVERY_MS, forMs })) return signal;
  }
  return 'none';
}

export async function sendSignal(
  home: Home,
  to: { pid: number; signal: 'INT' | 'QUIT' | 'KILL' },
): Promise<void> {
  if (process.platform === 'win32') {
    // Node can only end a process there; PostgreSQL listens to a pipe of its own, which pg_ctl knows.
    await run(program(home.native, 'pg_ctl'), ['kill', to.signal, String(to.pid)]).catch(() => {});
    return;
  }
  try {
    process.kill(to.pid, `SIG${to.signal}`);
  } catch (error) {
    home.log.debug({ pid: to.pid, err: error }, 'postgres.gone_before_signal');
  }
}
