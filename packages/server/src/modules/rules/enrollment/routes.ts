import { previewEnrollment } from './preview-enrollment.ts';
import { startEnrollment } from './enroll.ts';
import { enrollmentSummary, enrollmentPreviewBody } from '../rule-view.ts';
import { routesFor, type KitDeps } from '../../workspace/index.ts';

type Deps = KitDeps & { wake: () => void };
const { route } = routesFor<Deps>();

export const ruleEnrollRoutes = [
  route('GET /projects/:project/rules/:rule/enrollment', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db }, { projectId, params: { rule: reference } }) {
      return { data: enrollmentPreviewBody(await previewEnrollment(db, { projectId, reference })) };
    },
  }),
  route('POST /projects/:project/rules/:rule/enrollment', {
    needs: 'editor',
    isHeavy: true,
    audit: 'rule.enroll',
    async handle({ db, newId, wake }, { projectId, params: { rule: reference }, note }) {
      const { rule, enrollment } = await startEnrollment(db, { projectId, reference, newId });
      wake();
      note({ subject: rule.name, after: { enrollment: enrollment.id, members: enrollment.members } });
      return { data: enrollmentSummary(enrollment) };
    },
  }),
];
