import type { Victim } from '../fault.ts';

/** Returns a random running process, or null if all are restarting. */
export function pickRunning(victims: Victim[], random: () => number): Victim | null {
  const running = victims.filter((victim) => victim.pid() !== null);
  return running[Math.floor(random() * running.length)] ?? null;
}
