import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import type { ProcessMessage, SupervisorMessage } from '../../src/main/processes.ts';

/** A fake process that records its messages and sends those that the test says. */
export type FakeProcess = {
  worker: Worker;
  messages: SupervisorMessage[];
  killed: string[];
  says: (message: ProcessMessage) => void;
  ends: () => void;
  /** Simulates a process that the system could not start: it never ran. */
  fails: () => void;
};

export function fakeProcess(pid: number | null = 1): FakeProcess {
  const messages: SupervisorMessage[] = [];
  const killed: string[] = [];
  const worker = Object.assign(new EventEmitter(), {
    process: { pid: pid ?? undefined, kill: (signal: string) => killed.push(signal) },
    isConnected: () => true,
    send: (message: SupervisorMessage) => messages.push(message),
  });
  return {
    worker: worker as unknown as Worker,
    messages,
    killed,
    says: (message) => void worker.emit('message', message),
    ends: () => void worker.emit('exit', 0, null),
    fails: () => void worker.emit('error', new Error('spawn EAGAIN')),
  };
}
