import { AggregatorRegistry, type Registry } from 'prom-client';

/** The metrics of a process, in the form of the metrics library. */
export type ProcessMetrics = CountedMetric[];
export type CountedMetric = {
  name: string;
  help: string;
  type: unknown;
  aggregator: string;
  values: { value: number; labels: Record<string, string | number>; metricName?: string }[];
};

export const COUNTS_CONTENT_TYPE = AggregatorRegistry.PROMETHEUS_CONTENT_TYPE;

export async function countsOf({ registry }: { registry: Registry }): Promise<ProcessMetrics> {
  return (await registry.getMetricsAsJSON()) as unknown as ProcessMetrics;
}

/**
 * Merges the metrics of several processes into one page. Counters and histograms are added up. Each gauge has its own `aggregator`, because
 * values that all processes read from one database must not be added up.
 */
export function mergeCounts(all: Iterable<ProcessMetrics>): Promise<string> {
  return AggregatorRegistry.aggregate([...all]).metrics();
}

/**
 * Keeps the counters of an ended process in the sum. Its successor begins at zero, and scrapers would otherwise see all counters restart.
 * Its gauges, such as memory and lag, end with it.
 */
export function keepCounted(ofEnded: ProcessMetrics, last: ProcessMetrics): Promise<ProcessMetrics> {
  const counted = last.filter(({ type }) => type !== 'gauge');
  return countsOf({ registry: AggregatorRegistry.aggregate([ofEnded, counted]) });
}
