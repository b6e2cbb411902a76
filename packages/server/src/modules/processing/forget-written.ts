import type { Tx } from '../../platform/db/statements.ts';
import { clearWritten, listWrittenProjects } from '../users/index.ts';

/** Lists projects with stored write sequences, which exist because older records were waiting. */
export async function listWritten(tx: Tx): Promise<number[]> {
  return (await listWrittenProjects(tx)).map((row) => row.project_id);
}

/** Deletes write sequences of at most `limit` users. No record accepted before `before` may be waiting. Requires the project lock. */
export function forgetWritten(
  tx: Tx,
  wanted: { projectId: number; before: number; limit: number },
): Promise<number> {
  return clearWritten(tx, wanted);
}
