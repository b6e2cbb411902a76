import { test } from 'vitest';
import { createPause } from './sleep.ts';

test('ends all waits when the pause ends, and waits no longer after that', async () => {
  const pause = createPause();
  const never = new Promise<void>(() => {});
  const waits = [pause.of(2 ** 30), pause.until(never)];
  pause.end();
  await Promise.all(waits);
  await pause.of(2 ** 30);
  await pause.until(never);
});

test('ends a wait after its time, or when the awaited promise is settled in any way', async () => {
  const pause = createPause();
  await pause.of(1);
  await pause.until(Promise.resolve());
  await pause.until(Promise.reject(new Error('no')));
});
