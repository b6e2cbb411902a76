import { AggregatorRegistry, type Registry } from 'prom-client';

/** What a process counted, as the library of metrics puts it. */
export type Counts = CountedMetric[];
export type CountedMetric = {
  name: string;
  help: string;
  type: unknown;
  aggregator: string;
  values: { value: number; labels: Record<string, string | number>; metricName?: string }[];
};

export const COUNTS_CONTENT_TYPE = AggregatorRegistry.PROMETHEUS_CONTENT_TYPE;

export async function countsOf({ registry }: { registry: Registry }): Promise<Counts> {
  return (await registry.getMetricsAsJSON()) as unknown as Counts;
}

/**
 * What several processes counted, as if one had. Counters and histograms are added up; of a gauge each says itself what is made of
 * several (`aggregator`), for what all of them read in one database is no sum.
 */
export function mergeCounts(all: Iterable<Counts>): Promise<string> {
  return AggregatorRegistry.aggregate([...all]).metrics();
}

/**
 * A process that ended is followed by one that begins at zero. What it had counted stays in the sum, or every scraper would see all of
 * them begin anew; what it was (its memory, how late it was) is gone with it.
 */
export function keepCounted(ofEnded: Counts, last: Counts): Promise<Counts> {
  const counted = last.filter(({ type }) => type !== 'gauge');
  return countsOf({ registry: AggregatorRegistry.aggregate([ofEnded, counted]) });
}
