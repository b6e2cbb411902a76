import type { Tx } from '../../../platform/db/statements.ts';
import { parseDefinition } from './parse.ts';
import { listVersionsOfRule } from './reads.ts';
import type { RuleVersion } from './rule.ts';

/** `createdBy`: null if the author was not recorded. */
export type WrittenVersion = RuleVersion & { createdAt: number; createdBy: string | null };

const VERSIONS_SHOWN = 100;

/** Returns the versions, newest first. */
export async function listRuleVersions(
  tx: Tx,
  { projectId, ruleId }: { projectId: number; ruleId: string },
): Promise<WrittenVersion[]> {
  const rows = await listVersionsOfRule(tx, { projectId, ruleId, limit: VERSIONS_SHOWN });
  return rows.map(({ version, definition, created_at, created_by }) => ({
    version,
    definition: parseDefinition(definition),
    createdAt: created_at.getTime(),
    createdBy: created_by,
  }));
}
