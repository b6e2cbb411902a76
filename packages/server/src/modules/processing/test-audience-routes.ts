import { findAudience, findMemberships, loadModels } from '../audiences/index.ts';
import { loadFacts } from './evaluate-audiences.ts';
import { findPeople } from '../users/index.ts';
import { routesFor } from '../workspace/index.ts';
import type { Database } from '../../platform/db/database.ts';
import { Fault } from '../../platform/fault.ts';
import { explain, type Explained } from '../../platform/predicate/evaluate.ts';

const { route } = routesFor();

/** Evaluates one audience for one user, as processing does. */
export const audienceTestRoutes = [
  route('GET /projects/:project/audiences/:audience/test', {
    needs: 'viewer',
    async handle({ db }, { projectId, params, query }) {
      const { user } = query;
      const result = await testAudience(db, { projectId, reference: params.audience, userId: user });
      const { isMember: member, explained } = result;
      return { data: { external_user_id: user, member, explanation: explained } };
    },
  }),
];

type AudienceTestResult = {
  audienceId: string;
  name: string;
  /** True if the user is a member now; null while the audience has no members because it is still being built. */
  isMember: boolean | null;
  /** Every condition with its current result. */
  explained: Explained;
};

/** Explains why a user is or is not in an audience, by the newest definition, with the result of each condition. */
export async function testAudience(
  db: Pick<Database, 'query' | 'prepared' | 'clock'>,
  query: { projectId: number; reference: string; userId: string },
): Promise<AudienceTestResult> {
  const { projectId, userId } = query;
  const audience = await findAudience(db, query);
  const [person] = await findPeople(db, [{ projectId, userId }]);
  if (!person) {
    const message = `This project has no user with the external_user_id ${JSON.stringify(userId)}`;
    throw new Fault('not_found', { details: [{ message }] });
  }
  const audiences = (await loadModels(db, [projectId])).get(projectId);
  const versions = audiences?.versions.filter(({ audienceId }) => audienceId === audience.id) ?? [];
  const newest = versions.find(({ state }) => state === 'building') ?? versions[0];
  if (!audiences || !newest) throw new Error(`audience ${audience.id} has no current version`);
  const now = db.clock.now();
  const { factsOf } = await loadFacts(db, [{ person, model: { audiences }, versions: [newest] }], {
    now,
    counting: new Set(),
  });
  const [membership] = await findMemberships(db, [{ projectId, userId }], { withTimers: false });
  const members = membership?.members ?? new Map<number, Date>();
  const served = versions.find(({ state }) => state === 'served');
  const isMember = (audienceId: string): boolean =>
    members.has(audiences.versionFor(audienceId)?.versionId ?? -1);
  const facts = { now, ...factsOf(person), isMember: isMember };
  return {
    audienceId: audience.id,
    name: audience.name,
    isMember: served ? members.has(served.versionId) : null,
    explained: explain(newest.predicate, facts, (id) => audiences.versionFor(id)?.name),
  };
}
