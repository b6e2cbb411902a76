import { expect, test } from 'vitest';
import { heldClock } from '../../testkit/clock.ts';
import { createMetrics } from '../http/index.ts';
import { meteredDuty } from './metered.ts';

test('a duty that never comes to its end is as old as its process, for whoever watches', async () => {
  const clock = heldClock();
  const metrics = createMetrics({ version: '', node: '' });
  const began = clock.now() / 1_000;
  const lastDone = async (): Promise<string | undefined> => {
    const text = await metrics.registry.getSingleMetricAsString('beckon_duty_success_timestamp_seconds');
    return /\{duty="forget"\} (\S+)/.exec(text)?.[1];
  };
  try {
    let fails = true;
    const run = () => (fails ? Promise.reject(new Error('in the way')) : Promise.resolve());
    const duty = meteredDuty({ name: 'forget', everyMs: 1, run }, { metrics, clock });
    expect(Number(await lastDone())).toBe(began);
    clock.advance(60_000);
    await expect(duty.run(() => false)).rejects.toThrow('in the way');
    expect(Number(await lastDone())).toBe(began);
    fails = false;
    await duty.run(() => false);
    expect(Number(await lastDone())).toBe(began + 60);
  } finally {
    metrics.stop();
  }
});
