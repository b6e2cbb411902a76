import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import type { FromPart, ToPart } from '../src/main/processes.ts';

/** A process that does nothing but hear what it is told, and say what it is made to say. */
export type StandIn = {
  worker: Worker;
  told: ToPart[];
  killed: string[];
  says: (message: FromPart) => void;
  ends: () => void;
  /** The system had no room for it: it never ran. */
  fails: () => void;
};

export function standInProcess(pid: number | null = 1): StandIn {
  const told: ToPart[] = [];
  const killed: string[] = [];
  const worker = Object.assign(new EventEmitter(), {
    process: { pid: pid ?? undefined, kill: (signal: string) => killed.push(signal) },
    isConnected: () => true,
    send: (message: ToPart) => told.push(message),
  });
  return {
    worker: worker as unknown as Worker,
    told,
    killed,
    says: (message) => void worker.emit('message', message),
    ends: () => void worker.emit('exit', 0, null),
    fails: () => void worker.emit('error', new Error('spawn EAGAIN')),
  };
}
