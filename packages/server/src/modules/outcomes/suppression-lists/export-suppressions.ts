import { csvLine } from '@beckon/contract/files';
import { iso, isoOrNull } from '../../../platform/time/clock.ts';
import { plainCell } from '../../../platform/text/csv.ts';
import type { SuppressionHasher } from '../../sending/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { COLUMNS, writeHash } from './columns.ts';
import { isHashed, type Suppression } from '../suppressions/entries.ts';
import { listAllEntries, SUPPRESSIONS_PAGE_MAX } from '../suppressions/reads.ts';

export type ExportFormat = 'csv' | 'ndjson';

/**
 * Exports all suppressions of a project, including those that ended, a page at a time. The result can be imported again and gives the same
 * list. So a suppression behind the one in force has a row of its own, after it.
 */
export async function* exportSuppressions(
  tx: Tx,
  { projectId, format, hasher }: { projectId: number; format: ExportFormat; hasher: SuppressionHasher },
): AsyncGenerator<string, void, void> {
  const keyId = hasher.keyIdOf(projectId);
  if (format === 'csv') yield csvLine([...COLUMNS, 'created_by']);
  let after: Suppression | null = null;
  do {
    const page: Suppression[] = await listAllEntries(tx, { projectId, after, limit: SUPPRESSIONS_PAGE_MAX });
    if (page.length > 0) yield page.map((row) => lineOf(row, { format, keyId })).join('\n');
    // Rows do not show whether a page of places was full, so the loop ends at an empty page.
    after = page.at(-1) ?? null;
  } while (after !== null);
}

function lineOf(
  { kind, value, reason, until, createdAt, createdBy }: Suppression,
  { format, keyId }: { format: ExportFormat; keyId: string },
): string {
  const row = {
    email: kind === 'email' ? value : null,
    user: kind === 'user' ? value : null,
    reason,
    until: isoOrNull(until),
    created_at: iso(createdAt),
    hash: isHashed(kind) ? writeHash(kind, value) : null,
    hash_key: isHashed(kind) ? keyId : null,
    created_by: createdBy,
  };
  if (format === 'ndjson') return JSON.stringify(row);
  return csvLine(Object.values(row).map((cell) => cell && plainCell(cell)));
}
