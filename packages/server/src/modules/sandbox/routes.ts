import { advanceClock, findClock, readAdvance } from './advance-clock.ts';
import { routesFor, type KitDeps } from '../workspace/index.ts';
import type { SuppressionHasher } from '../sending/index.ts';
import type { SendServices } from '../delivery/index.ts';
import type { TokenKeys } from '../../platform/crypto/email-token.ts';

type Deps = KitDeps & { hasher: SuppressionHasher; sendServices: SendServices; tokenKeys: TokenKeys };
const { route } = routesFor<Deps>();

export const clockRoutes = [
  route('GET /projects/:project/clock', {
    needs: 'viewer',
    async handle({ db }, { projectId }) {
      return { data: await findClock(db, projectId) };
    },
  }),
  route('POST /projects/:project/clock', {
    needs: 'editor',
    audit: 'test_clock.advance',
    async handle(deps, { projectId, body, note }) {
      const ms = readAdvance(body.advance);
      note({ subject: body.advance });
      const onStart = (): void => note({ hasChanged: true });
      try {
        return { data: await advanceClock(deps, { projectId, ms, onStart }) };
      } finally {
        const { now } = await findClock(deps.db, projectId);
        note({ after: { now } });
      }
    },
  }),
];
