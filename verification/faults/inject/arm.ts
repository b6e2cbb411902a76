import diagnostics from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import {
  FAILPOINTS,
  type Failpoint,
  type FailpointHook,
} from '../../../packages/server/src/platform/failpoints.ts';

/**
 * The action at a failpoint. `kill`: the process ends, as by SIGKILL. `throw`: the current work fails. `stall`: the process blocks for five
 * seconds, then continues. `drop`: its connections to the database break.
 */
export const CRASH_ACTIONS = ['kill', 'throw', 'stall', 'drop'] as const;
export type CrashAction = (typeof CRASH_ACTIONS)[number];
/** `after`: the pass on which it acts. It acts once. */
export type Armed = { point: Failpoint; action: CrashAction; after: number };

const STALL_MS = 5_000;

export function printArmed({ point, action, after }: Armed): string {
  return `${point}:${action}:${after}`;
}

export function parseArmed(text: string): Armed {
  const [name, actionName, count] = text.split(':');
  const point = FAILPOINTS.find((candidate) => candidate === name);
  const action = CRASH_ACTIONS.find((candidate) => candidate === actionName);
  const after = Number(count);
  if (!point || !action || !Number.isSafeInteger(after) || after < 1)
    throw new Error(`${JSON.stringify(text)} is invalid. Expected point:action:count`);
  return { point, action, after };
}

export type Trap = {
  failpoint: FailpointHook;
  /** Arms the trap from now on. Null disarms it. */
  set(armed: Armed | null): void;
};

type TrapOptions = {
  /** The port of the database. */
  databasePort: number;
  /** Called right before the action. */
  onReached: (armed: Armed) => void;
};

export function createTrap({ databasePort, onReached }: TrapOptions): Trap {
  const sockets = openSockets();
  let armed: Armed | null = null;
  let left = 0;
  return {
    set(next) {
      armed = next;
      left = next?.after ?? 0;
    },
    failpoint(point) {
      if (armed === null || point !== armed.point) return;
      left -= 1;
      if (left > 0) return;
      const current = armed;
      armed = null;
      onReached(current);
      act(current.action, () => {
        for (const socket of sockets) if (socket.remotePort === databasePort) socket.destroy();
      });
    },
  };
}

function act(action: CrashAction, drop: () => void): void {
  switch (action) {
    case 'kill':
      return void process.kill(process.pid, 'SIGKILL');
    case 'throw':
      throw new Error('Injected failure');
    case 'stall':
      return void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STALL_MS);
    case 'drop':
      return drop();
    default:
      return action satisfies never;
  }
}

/** Tracks all sockets that this process opens from now on, while they are open. */
function openSockets(): Set<Socket> {
  const sockets = new Set<Socket>();
  diagnostics.subscribe('net.client.socket', (message) => {
    const { socket } = message as { socket: Socket };
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}
