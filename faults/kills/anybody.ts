import type { Victim } from '../fault.ts';

/** Of these, anybody who is up; null where all are just coming back. */
export function anybody(victims: Victim[], random: () => number): Victim | null {
  const up = victims.filter((victim) => victim.pid() !== null);
  return up[Math.floor(random() * up.length)] ?? null;
}
