import { iso } from '../../platform/time/clock.ts';
import { readProjectLock } from '../../platform/locks/project-lock.ts';
import { advanceClock, readAdvance } from './advance-clock.ts';
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
      const { aheadMs } = await readProjectLock(db, projectId);
      return { data: { now: iso(db.clock.now() + aheadMs), ahead_ms: aheadMs } };
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
        const { now, advancedMs, drafts, emails } = await advanceClock(deps, { projectId, ms, onStart });
        return { data: { now: iso(now), advanced_ms: advancedMs, drafts, emails } };
      } finally {
        const { aheadMs } = await readProjectLock(deps.db, projectId);
        note({ after: { now: iso(deps.db.clock.now() + aheadMs) } });
      }
    },
  }),
];
