import { idMaker } from '../../../packages/server/src/platform/ids.ts';
import { RELAY_ADAPTERS } from '../../../packages/server/src/platform/relays/adapters.ts';
import { relayKinds } from '../../../packages/server/src/platform/relays/kinds.ts';
import { addRelay, useRelay } from '../../../packages/server/src/modules/sending/relays/change-relay.ts';
import { freePort } from '../../../packages/server/testing/servers/free-port.ts';
import { progress } from '../fill.ts';
import { round } from '../print.ts';
import { allSent, ring, writeDrafts } from '../rules/world.ts';
import { watchHeap } from '../soak/heap.ts';
import { openTestbed, type Testbed } from '../testbed.ts';
import { settle } from '../world.ts';
import type { RelayCount } from './relay-process.ts';
import { KIND, type Sizes } from './sizes.ts';
import { openWorld, PUBLIC_URL, type SendWorld } from './world.ts';

/**
 * Measures one worker that sends through the API of a provider, each answer of which takes 50 ms. The heap is that of the worker after a
 * garbage collection, after the first emails and after all of them.
 */
export async function http({ http: { warmUp, emails } }: Sizes): Promise<string[][]> {
  const testbed = await openTestbed();
  try {
    const world = await openWorld(testbed, { people: emails });
    const relay = await openFake(testbed);
    await useFake(testbed, world, (await relay('count')).settings);
    const inspector = await freePort();
    await testbed.serve('worker', {
      nodeOptions: [`--inspect=127.0.0.1:${inspector}`],
      env: {
        PUBLIC_URL,
        TRUST_PROXY: '127.0.0.1',
        WEBHOOK_ALLOW_PRIVATE: 'true',
        DNS_SERVERS: '127.0.0.1:9',
      },
    });
    const heap = await watchHeap(inspector);
    progress(`${warmUp} emails to warm up`);
    await send(testbed, world, warmUp);
    const before = await heap.usedBytes();
    await relay('forget');
    progress(`${emails - warmUp} emails`);
    await send(testbed, world, emails - warmUp);
    const { emails: arrived, twice, ms } = await relay('count');
    const after = await heap.usedBytes();
    heap.close();
    if (arrived !== emails - warmUp || twice > 0)
      throw new Error(`${arrived} of ${emails - warmUp} emails arrived, ${twice} more than once`);
    const figures = [((arrived - 1) / ms) * 1_000, twice].map(round);
    const heaps = [before, after].map((bytes) => `${(bytes / 1_048_576).toFixed(2)} MB`);
    return [[`one worker, ${KIND}`, ...figures, ...heaps, `${((after / before - 1) * 100).toFixed(1)} %`]];
  } finally {
    await testbed.close();
  }
}

async function openFake(testbed: Testbed): Promise<(command: 'count' | 'forget') => Promise<RelayCount>> {
  const { port } = await testbed.script('verification/bench/send/relay-process.ts');
  return async (command) => {
    const answer = await fetch(`http://127.0.0.1:${port}/${command}`, { method: 'POST' });
    return (await answer.json()) as RelayCount;
  };
}

async function useFake(
  { db, encrypter }: Testbed,
  { projectId }: SendWorld,
  settings: Record<string, string>,
): Promise<void> {
  const deps = { db, encrypter, kinds: relayKinds(Object.values(RELAY_ADAPTERS)), newId: idMaker(db.clock) };
  const relay = await addRelay(deps, { projectId, kind: KIND, name: 'Bench', settings });
  await useRelay(deps, { projectId, domain: '', relay });
}

async function send({ db, url }: Testbed, world: SendWorld, count: number): Promise<void> {
  await writeDrafts(world, { count, firstAt: Date.now() - 10_000, overMs: 9_000 });
  await settle(url);
  await ring(db, world.projectId, Date.now());
  await allSent(db, world.projectId, Date.now());
}
