import { cpuBetween, usageOf, usageOfTree } from '../measure.ts';
import type { Testbed, Server } from '../testbed.ts';

/** A process that sends. See `sender-process.ts`. */
export type SenderProcess = {
  pid: number;
  begin(): Promise<void>;
  rest(): Promise<void>;
  /** Returns the number of emails passed to its transport so far. */
  submitted(): Promise<number>;
};

export async function openSender(testbed: Testbed): Promise<SenderProcess> {
  const server = await testbed.script('verification/bench/rules/sender-process.ts');
  return {
    pid: server.pid,
    begin: () => sendCommand(server, 'begin').then(() => {}),
    rest: () => sendCommand(server, 'rest').then(() => {}),
    submitted: () => sendCommand(server, 'count'),
  };
}

async function sendCommand({ port }: Server, what: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/${what}`, { method: 'POST' });
  const { submitted } = (await answer.json()) as { submitted: number };
  return submitted;
}

/** Seconds of CPU time since `watchCpu` was called. */
export type Cpu = { sender: number; postgres: number };

export function watchCpu(testbed: Testbed, senders: SenderProcess[]): () => Cpu {
  const used = (): ReturnType<typeof usageOf>[] => senders.map(({ pid }) => usageOf(pid));
  const before = { senders: used(), postgres: usageOfTree(testbed.postgresPid) };
  return () => {
    const after = used();
    const sums = before.senders.map((previous, i) => cpuBetween(previous, after[i] ?? previous));
    return {
      sender: sums.reduce((a, b) => a + b, 0),
      postgres: cpuBetween(before.postgres, usageOfTree(testbed.postgresPid)),
    };
  };
}
