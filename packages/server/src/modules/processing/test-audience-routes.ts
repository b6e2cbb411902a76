import { EXTERNAL_USER_ID_MAX_CHARS } from '@beckon/contract';
import { Type } from 'typebox';
import { testAudience } from './test-audience.ts';
import { routesFor } from '../workspace/index.ts';

const { route } = routesFor();

/** Evaluates one audience for one user, as processing does. */
export const audienceTestRoutes = [
  route('GET /projects/:project/audiences/:audience/test', {
    needs: 'viewer',
    query: Type.Object({ user: Type.String({ minLength: 1, maxLength: EXTERNAL_USER_ID_MAX_CHARS }) }),
    async handle({ db }, { projectId, params, query }) {
      const { user } = query;
      const tested = await testAudience(db, { projectId, reference: params.audience, userId: user });
      const { isMember: member, explained } = tested;
      return { data: { external_user_id: user, member, explanation: explained } };
    },
  }),
];
