import { test } from 'vitest';
import { createInterruptibleSleep } from './sleep.ts';

test('ends all waits when the pause ends, and waits no longer after that', async () => {
  const sleep = createInterruptibleSleep();
  const never = new Promise<void>(() => {});
  const sleeps = [sleep.sleep(2 ** 30), sleep.waitFor(never)];
  sleep.end();
  await Promise.all(sleeps);
  await sleep.sleep(2 ** 30);
  await sleep.waitFor(never);
});

test('ends a wait after its time, or when the awaited promise is settled in any way', async () => {
  const sleep = createInterruptibleSleep();
  await sleep.sleep(1);
  await sleep.waitFor(Promise.resolve());
  await sleep.waitFor(Promise.reject(new Error('no')));
});
