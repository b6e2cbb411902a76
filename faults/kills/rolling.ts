import type { Fault } from '../fault.ts';
import { note } from '../inject/hold.ts';

/** As a release is rolled out: each process ends what it is at and comes back, one after the other, while the load goes on. */
export const ROLLING: Fault = {
  code: 'F10',
  name: 'a rolling restart',
  weight: 2,
  async run(stage) {
    for (const victim of stage.victims) {
      if (!stage.goesOn()) return;
      await victim.ready();
      note(stage, {
        code: 'F10',
        what: 'SIGTERM',
        victim: victim.name,
        inFlight: await victim.inFlight(),
      });
      await victim.restart('SIGTERM');
    }
  },
};
