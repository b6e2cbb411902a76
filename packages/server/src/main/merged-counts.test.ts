import { expect, test } from 'vitest';
import { createMetrics } from '../modules/operations/metrics/metrics.ts';
import { type ProcessMetrics, countsOf, mergeCounts } from './merged-counts.ts';

/** Returns the metrics of a process of this release, with these numbers in place of its own. */
async function metricsWith(numbers: Record<string, number>): Promise<ProcessMetrics> {
  const metrics = createMetrics({ version: '1.2.3', node: 'v26.0.0' });
  metrics.watchRelay(() => false);
  const counts = await countsOf(metrics);
  metrics.stop();
  return counts.map((metric) => {
    const value = numbers[metric.name];
    return value === undefined ? metric : { ...metric, values: [{ value, labels: {} }] };
  });
}

test('takes the highest values of several processes beside their limits, and adds up their memory', async () => {
  const limits = { nodejs_heap_limit_bytes: 4_000, process_max_fds: 1_024 };
  const [first, second] = [
    { ...limits, nodejs_heap_used_bytes: 3_000, process_open_fds: 600, process_resident_memory_bytes: 5_000 },
    { ...limits, nodejs_heap_used_bytes: 2_500, process_open_fds: 700, process_resident_memory_bytes: 4_000 },
  ];
  const text = await mergeCounts([await metricsWith(first), await metricsWith(second)]);
  const of = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  expect({
    heap: of('nodejs_heap_used_bytes'),
    heapLimit: of('nodejs_heap_limit_bytes'),
    descriptors: of('process_open_fds'),
    descriptorsLimit: of('process_max_fds'),
    resident: of('process_resident_memory_bytes'),
  }).toEqual({
    heap: 3_000,
    heapLimit: 4_000,
    descriptors: 700,
    descriptorsLimit: 1_024,
    resident: 9_000,
  });
});
