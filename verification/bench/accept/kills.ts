import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { examine, survivor, writers } from '../../../packages/server/testing/oracles/survival.ts';

const CLIENTS = 16;
const BETWEEN_MS = { least: 200, spread: 800 };

/** Kills the server and PostgreSQL with SIGKILL while clients write, then looks for every acknowledged record. */
export async function kills(times: number): Promise<string[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'beckon-kills-'));
  const server = await survivor(dataDir);
  await server.start();
  await server.product(['projects', 'create', 'bench']);
  const key = (await server.product(['keys', 'create', '--name', 'bench'])) as { secret: string };
  const load = writers({ url: server.url, secret: key.secret }, CLIENTS);
  for (let kill = 0; kill < times; kill += 1) {
    await pause();
    await server.killServer();
    await server.start();
  }
  for (let kill = 0; kill < times; kill += 1) {
    const before = load.journal.acknowledged.size;
    server.killPostgres();
    while (load.journal.acknowledged.size < before + CLIENTS * 2)
      await new Promise((resolve) => setTimeout(resolve, 10));
    await pause();
  }
  await load.stop();
  const result = await examine(server, dataDir, {
    journal: load.journal,
    secret: key.secret,
    replays: 1_000,
  });
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
  const { acknowledged, missing, doubled, otherBytes } = result;
  return [String(times), acknowledged, load.journal.failures, missing.length, doubled.length, otherBytes].map(
    String,
  );
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, BETWEEN_MS.least + Math.random() * BETWEEN_MS.spread));
}
