import type { Tx } from '../../../platform/db/statements.ts';
import { unknownProject } from './project.ts';
import { findPair as findRow } from './reads.ts';

/** A live project that may have a sandbox, or a sandbox with its live project. */
export type Pair = {
  projectId: number;
  name: string;
  organizationId: string | null;
  livemode: boolean;
  isDemo: boolean;
  isSuspended: boolean;
  /** For a sandbox: the setting of its live project is off. */
  isClosed: boolean;
  sandboxOf: number | null;
  sandboxId: number | null;
};

export async function findPair(tx: Tx, projectId: number): Promise<Pair> {
  const row = await findRow(tx, projectId);
  if (!row) throw unknownProject(projectId);
  return {
    projectId,
    name: row.name,
    organizationId: row.organization_id,
    livemode: row.livemode,
    isDemo: row.is_demo,
    isSuspended: row.is_suspended,
    isClosed: row.is_closed,
    sandboxOf: row.sandbox_of,
    sandboxId: row.sandbox_id,
  };
}
