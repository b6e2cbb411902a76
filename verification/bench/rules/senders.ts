import { cpuBetween, usageOf, usageOfTree } from '../measure.ts';
import type { Ground, Server } from '../stage.ts';

/** A process that sends. See `sender-process.ts`. */
export type SenderProcess = {
  pid: number;
  begin(): Promise<void>;
  rest(): Promise<void>;
  /** Returns the number of emails passed to its transport so far. */
  handed(): Promise<number>;
};

export async function openSender(ground: Ground): Promise<SenderProcess> {
  const server = await ground.script('verification/bench/rules/sender-process.ts');
  return {
    pid: server.pid,
    begin: () => tell(server, 'begin').then(() => {}),
    rest: () => tell(server, 'rest').then(() => {}),
    handed: () => tell(server, 'count'),
  };
}

async function tell({ port }: Server, what: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/${what}`, { method: 'POST' });
  const { handed } = (await answer.json()) as { handed: number };
  return handed;
}

/** Seconds of CPU time since `watchCpu` was called. */
export type Cpu = { sender: number; postgres: number };

export function watchCpu(ground: Ground, senders: SenderProcess[]): () => Cpu {
  const used = (): ReturnType<typeof usageOf>[] => senders.map(({ pid }) => usageOf(pid));
  const before = { senders: used(), postgres: usageOfTree(ground.postgresPid) };
  return () => {
    const after = used();
    const sums = before.senders.map((was, i) => cpuBetween(was, after[i] ?? was));
    return {
      sender: sums.reduce((a, b) => a + b, 0),
      postgres: cpuBetween(before.postgres, usageOfTree(ground.postgresPid)),
    };
  };
}
