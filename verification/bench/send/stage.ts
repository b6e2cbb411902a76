import { cpuBetween, usageOf, usageOfTree } from '../measure.ts';
import { type Testbed, openTestbed, type Server } from '../testbed.ts';
import { FROM, openWorld, PUBLIC_URL, type SendWorld } from './world.ts';
import type { SinkCount } from './sink-process.ts';

/** The receiving server and the product's worker as it runs in production, each in a process of its own. */
export type Stage = { testbed: Testbed; world: SendWorld; sink: Sink; worker: Server };
export type Sink = {
  pid: number;
  smtpPort: number;
  count(): Promise<SinkCount>;
  forget(): Promise<SinkCount>;
};

/** An address without a DNS server, so that no domain of these emails is ever looked up. */
const NO_NAME_SERVER = '127.0.0.1:9';

export async function onStage<T>(people: number, work: (stage: Stage) => Promise<T>): Promise<T> {
  const testbed = await openTestbed();
  try {
    const world = await openWorld(testbed, { people });
    const sink = await openSink(testbed);
    const env = {
      SMTP_URL: `smtp://127.0.0.1:${sink.smtpPort}`,
      PUBLIC_URL,
      TRUST_PROXY: '127.0.0.1',
      MAIL_FROM: FROM.address,
      DNS_SERVERS: NO_NAME_SERVER,
    };
    const worker = await testbed.serve('worker', { env });
    return await work({ testbed, world, sink, worker });
  } finally {
    await testbed.close();
  }
}

async function openSink(testbed: Testbed): Promise<Sink> {
  const { port, pid } = await testbed.script('verification/bench/send/sink-process.ts');
  const command = async (what: string): Promise<SinkCount> => {
    const answer = await fetch(`http://127.0.0.1:${port}/${what}`, { method: 'POST' });
    return (await answer.json()) as SinkCount;
  };
  const { smtpPort } = await command('count');
  return { pid, smtpPort, count: () => command('count'), forget: () => command('forget') };
}

/** Seconds of CPU time of the sender, of PostgreSQL and of the sink. */
export type Cpu = { sender: number; postgres: number; sink: number };

export function watchCpu({ testbed, sink }: Pick<Stage, 'testbed' | 'sink'>, sender: number): () => Cpu {
  const read = () => ({
    sender: usageOf(sender),
    postgres: usageOfTree(testbed.postgresPid),
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
