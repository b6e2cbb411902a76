import { showFlow } from './show-flow.ts';
import { routesFor } from '../../workspace/index.ts';

const { route } = routesFor();

export const ruleFlowRoutes = [
  route('GET /projects/:project/rules/:rule/flow', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db }, { projectId, params: { rule: reference }, query: { days = 30 } }) {
      return { data: await showFlow(db, { projectId, reference, days, now: db.clock.now() }) };
    },
  }),
];
