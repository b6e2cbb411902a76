import { startLoad } from '../load/index.ts';
import { cpuBetween, median, usageOf, usageOfTree } from '../measure.ts';
import { ratio } from '../print.ts';
import { singleEvents } from './singles.ts';
import type { Stage } from './stage.ts';

const SAMPLE_MS = 1_000;

/** Compares memory under load: the median of the last minute with that of the second. A quick run has shorter minutes. */
export async function memory(
  stage: Stage,
  { minutes, minuteMs }: { minutes: number; minuteMs: number },
): Promise<string[]> {
  const { secret } = await stage.project();
  const seconds = (minutes * minuteMs) / 1_000;
  const plan = singleEvents([secret], { kind: 'closed', connections: 64 }, seconds);
  const load = startLoad({ host: '127.0.0.1', port: stage.real.port, ...plan });
  const samples: number[][] = [];
  const startedAt = performance.now();
  while (performance.now() - startedAt < minutes * minuteMs) {
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    const minute = Math.floor((performance.now() - startedAt) / minuteMs);
    (samples[minute] ??= []).push(usageOf(stage.real.pid).rssBytes);
  }
  const result = await load.result;
  const second = median(samples[1] ?? []);
  const last = median(samples[minutes - 1] ?? []);
  return [megabytes(second), megabytes(last), ratio(last / second), String(result.errors)];
}

/** Measures the CPU time and memory of the server and its PostgreSQL without requests. */
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
