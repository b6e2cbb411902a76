import { EXTERNAL_USER_ID_MAX_CHARS } from '@beckon/contract';
import { Type } from 'typebox';
import { findAudience, findStandings, loadModels } from '../audiences/index.ts';
import { gatherFacts } from './evaluate-audiences.ts';
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
    query: Type.Object({ user: Type.String({ minLength: 1, maxLength: EXTERNAL_USER_ID_MAX_CHARS }) }),
    async handle({ db }, { projectId, params, query }) {
      const { user } = query;
      const tested = await testAudience(db, { projectId, reference: params.audience, userId: user });
      const { isMember: member, explained } = tested;
      return { data: { external_user_id: user, member, explanation: explained } };
    },
  }),
];

type Tested = {
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
  wanted: { projectId: number; reference: string; userId: string },
): Promise<Tested> {
  const { projectId, userId } = wanted;
  const audience = await findAudience(db, wanted);
  const [person] = await findPeople(db, [{ projectId, userId }]);
  if (!person) {
    const message = `This project has no user with the external_user_id ${JSON.stringify(userId)}`;
    throw new Fault('not_found', { details: [{ message }] });
  }
  const audiences = (await loadModels(db, [projectId])).get(projectId);
  const editions = audiences?.editions.filter(({ audienceId }) => audienceId === audience.id) ?? [];
  const newest = editions.find(({ state }) => state === 'building') ?? editions[0];
  if (!audiences || !newest) throw new Error(`audience ${audience.id} has no current edition`);
  const now = db.clock.now();
  const { factsOf } = await gatherFacts(db, [{ person, model: { audiences }, editions: [newest] }], {
    now,
    counting: new Set(),
  });
  const [standing] = await findStandings(db, [{ projectId, userId }], { dues: false });
  const members = standing?.members ?? new Map<number, Date>();
  const served = editions.find(({ state }) => state === 'served');
  const isIn = (audienceId: string): boolean => members.has(audiences.editionFor(audienceId)?.edition ?? -1);
  const facts = { now, ...factsOf(person), isMember: isIn };
  return {
    audienceId: audience.id,
    name: audience.name,
    isMember: served ? members.has(served.edition) : null,
    explained: explain(newest.predicate, facts, (id) => audiences.editionFor(id)?.name),
  };
}
