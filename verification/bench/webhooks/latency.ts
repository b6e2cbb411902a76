import { quantile } from '../measure.ts';
import { round } from '../print.ts';
import type { Sizes } from './sizes.ts';
import {
  untilAllDelivered,
  ENDPOINTS,
  onStage,
  PROJECTS,
  queue,
  type Stage,
  countUndelivered,
} from './stage.ts';

const TICK_MS = 20;

/**
 * Measures the time from just before the commit of an outcome to its first POST. Outcomes come at an even rate, from each project in turn.
 */
export function latency({ latency: { perSecond, forMs } }: Sizes): Promise<string[][]> {
  return onStage(50, async (stage) => {
    await stage.sink.forget();
    const startedAt = performance.now();
    await pourEvenly(stage, { perSecond, forMs });
    const tookMs = performance.now() - startedAt;
    await untilAllDelivered(stage);
    const { ages, deliveries, twice } = await stage.sink.count();
    const wrong = await countUndelivered(stage);
    const figures = [0.5, 0.95, 0.99, 1].map((share) => `${round(quantile(ages, share))} ms`);
    return [[round((deliveries / tookMs) * 1_000), ...figures, String(twice), String(wrong)]];
  });
}

/** Creates this many deliveries per second, for each project in turn. */
export async function pourEvenly(
  { testbed, projectIds }: Pick<Stage, 'testbed' | 'projectIds'>,
  { perSecond, forMs }: { perSecond: number; forMs: number },
): Promise<void> {
  const perEndpoint = Math.round((perSecond * forMs) / 1_000 / ENDPOINTS);
  const startedAt = performance.now();
  for (let queued = 0; queued < perEndpoint;) {
    const due = Math.min(
      perEndpoint,
      Math.ceil((((performance.now() - startedAt) / 1_000) * perSecond) / ENDPOINTS),
    );
    for (; queued < due; queued += 1) {
      const projectId = projectIds[queued % PROJECTS] ?? 0;
      await queue({ testbed }, { projectId, count: 1, dueAt: Date.now() });
    }
    await new Promise((resolve) => void setTimeout(resolve, TICK_MS));
  }
}
