import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { program } from './binaries.ts';
import type { Home } from './home.ts';
import { commandOf } from './process-command.ts';
import { waitUntil } from './wait-until.ts';

const run = promisify(execFile);

/** Fast (roll back and write all data), then immediate (recovery at the next start), then by force. */
const STEPS = [
  { signal: 'INT', forMs: 30_000 },
  { signal: 'QUIT', forMs: 10_000 },
  { signal: 'KILL', forMs: 5_000 },
] as const;
const LOOK_EVERY_MS = 10;

/** Requires the exclusive users' lock. Returns the strongest signal used; the process has ended then. */
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
    // On Windows, Node.js can only kill a process. PostgreSQL listens on its own pipe, which pg_ctl uses.
    await run(program(home.native, 'pg_ctl'), ['kill', to.signal, String(to.pid)]).catch(() => {});
    return;
  }
  try {
    process.kill(to.pid, `SIG${to.signal}`);
  } catch (error) {
    home.log.debug({ pid: to.pid, err: error }, 'postgres.gone_before_signal');
  }
}
