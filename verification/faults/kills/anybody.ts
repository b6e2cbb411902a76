import type { Victim } from '../fault.ts';

/** Returns a random running process, or null if all are restarting. */
export function anybody(victims: Victim[], random: () => number): Victim | null {
  const up = victims.filter((victim) => victim.pid() !== null);
  return up[Math.floor(random() * up.length)] ?? null;
}
