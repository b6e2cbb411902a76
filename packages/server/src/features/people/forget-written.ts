import type { Tx } from '../../io/db/index.ts';
import { clearWritten, listWrittenProjects } from './store.ts';

/** Projects in which it is remembered which sequence wrote what, because older records waited. */
export async function listWritten(tx: Tx): Promise<number[]> {
  return (await listWrittenProjects(tx)).map((row) => row.project_id);
}

/** With the turn taken, and knowing that nothing accepted before `before` waits; at most `limit` people. */
export function forgetWritten(
  tx: Tx,
  wanted: { projectId: number; before: number; limit: number },
): Promise<number> {
  return clearWritten(tx, wanted);
}
