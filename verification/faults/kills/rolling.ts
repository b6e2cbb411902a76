import type { Fault } from '../fault.ts';
import { note } from '../inject/hold.ts';

/** Simulates a rolling release: each process finishes its work and restarts, one after the other, while the load continues. */
export const ROLLING: Fault = {
  code: 'F10',
  name: 'a rolling restart',
  weight: 2,
  async run(stage) {
    for (const victim of stage.victims) {
      if (!stage.isRunning()) return;
      await victim.ready();
      note(stage, {
        code: 'F10',
        detail: 'SIGTERM',
        victim: victim.name,
        inFlight: await victim.inFlight(),
      });
      await victim.restart('SIGTERM');
    }
  },
};
