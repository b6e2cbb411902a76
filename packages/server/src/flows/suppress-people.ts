import { findPeople } from '../features/people/index.ts';
import { takeSendTurn } from '../features/sending/index.ts';
import { takeTurn } from '../features/turns/index.ts';
import type { Database } from '../io/db/index.ts';
import { suppressIn } from './suppress.ts';

/** `known`: of how many something at least as strong was said before; `unknown`: who is nobody here. */
export type SuppressedPeople = {
  added: number;
  known: number;
  unknown: string[];
  drafts: number;
  runs: number;
};

/** Nothing is sent to these people any more, whatever their address becomes; what was under way to them ends. */
export function suppressPeople(
  db: Pick<Database, 'transaction' | 'clock'>,
  { projectId, users, actor }: { projectId: number; users: string[]; actor: string },
): Promise<SuppressedPeople> {
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    await takeSendTurn(tx, projectId);
    const now = db.clock.now();
    const asked = [...new Set(users)];
    const people = await findPeople(
      tx,
      asked.map((userId) => ({ projectId, userId })),
      { emails: false },
    );
    const found = new Set(people.map(({ userId }) => userId));
    const wanted = [...found].map((value) => ({
      kind: 'user' as const,
      value,
      reason: 'manual' as const,
      until: null,
      createdAt: now,
      createdBy: actor,
    }));
    const { added, drafts, runs } = await suppressIn(tx, projectId, { wanted, now, actor });
    const unknown = asked.filter((userId) => !found.has(userId));
    return { added, known: wanted.length - added, unknown, drafts, runs };
  });
}
