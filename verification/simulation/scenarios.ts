import { playAccept } from './accept/play.ts';
import { emailScenario } from './emails/scenario.ts';
import { play } from './schedule.ts';
import { webhookScenario } from './webhooks/scenario.ts';

/** The simulations by name. Each plays the history of a seed and returns its number of steps. */
export const SCENARIOS: Record<string, (seed: number) => number | Promise<number>> = {
  accept: (seed) => playAccept(seed),
  emails: (seed) => play(seed, emailScenario()),
  webhooks: (seed) => play(seed, webhookScenario()),
};
