import type { Fault } from '../fault.ts';
import { note } from '../inject/hold.ts';
import { anybody } from './anybody.ts';

/**
 * kill -9 of any process. It is stopped first, so that what was under way in it can be counted at the moment of its death:
 * a kill that hits nobody at work proves little.
 */
export const KILL_PROCESS: Fault = {
  code: 'F2',
  name: 'kill -9 of a process',
  weight: 60,
  async run(stage, random) {
    const victim = anybody(stage.victims, random);
    if (!victim) return;
    victim.signal('SIGSTOP');
    const inFlight = await victim.inFlight();
    victim.signal('SIGKILL');
    note(stage, { code: 'F2', what: 'SIGKILL', victim: victim.name, inFlight });
  },
};
