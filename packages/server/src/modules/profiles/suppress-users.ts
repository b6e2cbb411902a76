import { findPeople } from '../users/index.ts';
import { takeSendTurn } from '../sending/index.ts';
import { takeTurn } from '../../platform/locks/project-lock.ts';
import type { Database } from '../../platform/db/database.ts';
import { suppressIn } from '../outcomes/index.ts';

/** `notFound`: ids without a user. */
export type SuppressedPeople = {
  added: number;
  already_suppressed: number;
  notFound: string[];
  drafts: number;
  runs: number;
};

/** Suppresses these users at any address, and ends their drafts and runs. */
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
    const notFound = asked.filter((userId) => !found.has(userId));
    return { added, already_suppressed: wanted.length - added, notFound, drafts, runs };
  });
}
