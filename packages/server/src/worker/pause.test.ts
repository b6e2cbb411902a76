import { test } from 'vitest';
import { createPause } from './pause.ts';

test('whoever waits is let go when it is over, and nobody waits after that', async () => {
  const pause = createPause();
  const never = new Promise<void>(() => {});
  const waits = [pause.of(2 ** 30), pause.until(never)];
  pause.end();
  await Promise.all(waits);
  await pause.of(2 ** 30);
  await pause.until(never);
});

test('a wait ends when its time is over, or when what it waits for has come to an end, whatever end', async () => {
  const pause = createPause();
  await pause.of(1);
  await pause.until(Promise.resolve());
  await pause.until(Promise.reject(new Error('no')));
});
