import type { Fault } from '../fault.ts';
import { note } from '../inject/hold.ts';
import { pickRunning } from './pick-running.ts';

const TRIES = 3;

/**
 * Kills any process with SIGKILL. It is stopped first, so that its work under way can be counted at the moment of its death. Killing an
 * idle process proves little, so an idle process continues unless it is the last candidate.
 */
export const KILL_PROCESS: Fault = {
  code: 'F2',
  name: 'kill -9 of a process',
  weight: 90,
  async run(stage, random) {
    for (let attempt = 1; attempt <= TRIES; attempt += 1) {
      const victim = pickRunning(stage.victims, random);
      if (!victim) return;
      victim.signal('SIGSTOP');
      const inFlight = await victim.inFlight();
      const isDue = inFlight > 0 || attempt === TRIES;
      victim.signal(isDue ? 'SIGKILL' : 'SIGCONT');
      if (!isDue) continue;
      note(stage, { code: 'F2', detail: 'SIGKILL', victim: victim.name, inFlight });
      return;
    }
  },
};
