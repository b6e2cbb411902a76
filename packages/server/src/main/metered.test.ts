import { expect, test } from 'vitest';
import { jobRun } from '../../testing/factories/job-run.ts';
import { fixedClock } from '../../testing/factories/clock.ts';
import { createMetrics } from '../modules/operations/metrics/metrics.ts';
import { meteredJob } from './metered.ts';

test('counts a job that never ends from the start of its process', async () => {
  const clock = fixedClock();
  const metrics = createMetrics({ version: '', node: '' });
  const began = clock.now() / 1_000;
  const lastSuccess = async (): Promise<string | undefined> => {
    const text = await metrics.registry.getSingleMetricAsString('beckon_job_success_timestamp_seconds');
    return /\{name="forget"\} (\S+)/.exec(text)?.[1];
  };
  try {
    let fails = true;
    const run = () => (fails ? Promise.reject(new Error('in the way')) : Promise.resolve());
    const job = meteredJob({ name: 'forget', everyMs: 1, run }, { metrics, clock });
    expect(Number(await lastSuccess())).toBe(began);
    clock.advance(60_000);
    await expect(job.run(jobRun())).rejects.toThrow('in the way');
    expect(Number(await lastSuccess())).toBe(began);
    fails = false;
    await job.run(jobRun());
    expect(Number(await lastSuccess())).toBe(began + 60);
  } finally {
    metrics.stop();
  }
});
