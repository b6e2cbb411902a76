import { type Audience, deleteAudience as remove } from '../features/audiences/index.ts';
import { newModel, takeTurn } from '../features/turns/index.ts';
import type { Database } from '../io/db/index.ts';

/** Under the project's turn: whoever digests next does not know it any more. */
export function deleteAudience(
  db: Pick<Database, 'transaction'>,
  wanted: { projectId: number; reference: string },
): Promise<Audience> {
  return db.transaction(async (tx) => {
    await takeTurn(tx, wanted.projectId);
    await newModel(tx, wanted.projectId);
    return remove(tx, wanted);
  });
}
