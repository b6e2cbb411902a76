import { cpuBetween, usageOf, usageOfTree } from '../measure.ts';
import { type Ground, openGround, type Server } from '../stage.ts';
import { FROM, openWorld, PUBLIC_URL, type SendWorld } from './world.ts';
import type { SinkCount } from './sink-process.ts';

/** The receiving server and the product's worker as it runs in production, each in a process of its own. */
export type Stage = { ground: Ground; world: SendWorld; sink: Sink; worker: Server };
export type Sink = {
  pid: number;
  smtpPort: number;
  count(): Promise<SinkCount>;
  forget(): Promise<SinkCount>;
};

/** An address without a DNS server, so that no domain of these emails is ever looked up. */
const NO_NAME_SERVER = '127.0.0.1:9';

export async function onStage<T>(people: number, work: (stage: Stage) => Promise<T>): Promise<T> {
  const ground = await openGround();
  try {
    const world = await openWorld(ground, { people });
    const sink = await openSink(ground);
    const env = {
      SMTP_URL: `smtp://127.0.0.1:${sink.smtpPort}`,
      PUBLIC_URL,
      TRUST_PROXY: '127.0.0.1',
      MAIL_FROM: FROM.address,
      DNS_SERVERS: NO_NAME_SERVER,
    };
    const worker = await ground.serve('worker', { env });
    return await work({ ground, world, sink, worker });
  } finally {
    await ground.close();
  }
}

async function openSink(ground: Ground): Promise<Sink> {
  const { port, pid } = await ground.script('verification/bench/send/sink-process.ts');
  const ask = async (what: string): Promise<SinkCount> => {
    const answer = await fetch(`http://127.0.0.1:${port}/${what}`, { method: 'POST' });
    return (await answer.json()) as SinkCount;
  };
  const { smtpPort } = await ask('count');
  return { pid, smtpPort, count: () => ask('count'), forget: () => ask('forget') };
}

/** Seconds of CPU time of the sender, of PostgreSQL and of the sink. */
export type Cpu = { sender: number; postgres: number; sink: number };

export function watchCpu({ ground, sink }: Pick<Stage, 'ground' | 'sink'>, sender: number): () => Cpu {
  const read = () => ({
    sender: usageOf(sender),
    postgres: usageOfTree(ground.postgresPid),
    sink: usageOf(sink.pid),
  });
  const before = read();
  return () => {
    const after = read();
    return {
      sender: cpuBetween(before.sender, after.sender),
      postgres: cpuBetween(before.postgres, after.postgres),
      sink: cpuBetween(before.sink, after.sink),
    };
  };
}
