import type { Fault } from '../fault.ts';
import { between, pick } from '../random.ts';
import { injectFor } from './hold.ts';
import { BAD_MODES } from './receiver.ts';

const DURATION_MS: [number, number] = [3_000, 15_000];

/** All bad endpoints are in the same mode at once. The cost of one must not affect the good ones. */
export const ENDPOINT_FAULTS: Fault[] = [
  {
    code: 'F9',
    name: 'bad endpoints agree',
    weight: 2,
    async run(stage, random) {
      const mode = pick(BAD_MODES, random);
      await injectFor(stage, {
        code: 'F9',
        detail: mode,
        victim: 'endpoints',
        inject: () => stage.setBadEndpoint(mode),
        restore: () => stage.setBadEndpoint(null),
        forMs: between(...DURATION_MS, random),
      });
    },
  },
];
