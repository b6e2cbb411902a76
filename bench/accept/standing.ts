import { startLoad } from '../load/index.ts';
import { cpuBetween, median, usageOf, usageOfTree } from '../measure.ts';
import { ratio } from '../print.ts';
import { singleEvents } from './singles.ts';
import type { Stage } from './stage.ts';

const MINUTE_MS = 60_000;
const SAMPLE_MS = 1_000;

/** Memory over five minutes of load: the median of the last against that of the second. */
export async function memory(stage: Stage, minutes: number): Promise<string[]> {
  const { secret } = await stage.project();
  const plan = singleEvents([secret], { kind: 'closed', connections: 64 }, minutes * 60);
  const load = startLoad({ host: '127.0.0.1', port: stage.real.port, ...plan });
  const samples: number[][] = [];
  const startedAt = performance.now();
  while (performance.now() - startedAt < minutes * MINUTE_MS) {
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    const minute = Math.floor((performance.now() - startedAt) / MINUTE_MS);
    (samples[minute] ??= []).push(usageOf(stage.real.pid).rssBytes);
  }
  const result = await load.result;
  const second = median(samples[1] ?? []);
  const last = median(samples[minutes - 1] ?? []);
  return [megabytes(second), megabytes(last), ratio(last / second), String(result.errors)];
}

/** What the server and its PostgreSQL use when nobody asks for anything. */
export async function idle(stage: Stage, seconds: number): Promise<string[]> {
  const before = { api: usageOf(stage.real.pid), postgres: usageOfTree(stage.postgresPid) };
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  const after = { api: usageOf(stage.real.pid), postgres: usageOfTree(stage.postgresPid) };
  const share = (used: number): string => `${((used / seconds) * 100).toFixed(2)} %`;
  const api = cpuBetween(before.api, after.api);
  const postgres = cpuBetween(before.postgres, after.postgres);
  return [share(api), share(postgres), share(api + postgres)];
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
