import type { Fault } from '../fault.ts';
import { note } from '../inject/hold.ts';
import { anybody } from './anybody.ts';

const LOOKS = 3;

/**
 * Kills any process with SIGKILL. It is stopped first, so that its work under way can be counted at the moment of its death. Killing an
 * idle process proves little, so an idle process continues unless it is the last candidate.
 */
export const KILL_PROCESS: Fault = {
  code: 'F2',
  name: 'kill -9 of a process',
  weight: 90,
  async run(stage, random) {
    for (let look = 1; look <= LOOKS; look += 1) {
      const victim = anybody(stage.victims, random);
      if (!victim) return;
      victim.signal('SIGSTOP');
      const inFlight = await victim.inFlight();
      const isDue = inFlight > 0 || look === LOOKS;
      victim.signal(isDue ? 'SIGKILL' : 'SIGCONT');
      if (!isDue) continue;
      note(stage, { code: 'F2', what: 'SIGKILL', victim: victim.name, inFlight });
      return;
    }
  },
};
