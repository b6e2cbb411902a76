import { playAccept } from './accept/play.ts';
import { letters } from './letters/scenario.ts';
import { play } from './schedule.ts';
import { webhooks } from './webhooks/scenario.ts';

/** What is simulated, by its name: plays the history of a seed, and says how many steps it had. */
export const SCENARIOS: Record<string, (seed: number) => number | Promise<number>> = {
  accept: (seed) => playAccept(seed),
  letters: (seed) => play(seed, letters()),
  webhooks: (seed) => play(seed, webhooks()),
};
