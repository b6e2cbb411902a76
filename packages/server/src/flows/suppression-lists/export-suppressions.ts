import { iso } from '../../base/clock.ts';
import { csvLine, plainCell } from '../../base/csv.ts';
import {
  listSuppressions,
  type Suppression,
  SUPPRESSIONS_PAGE_MAX,
} from '../../features/suppressions/index.ts';
import type { Tx } from '../../io/db/index.ts';
import { COLUMNS } from './columns.ts';

export type ExportFormat = 'csv' | 'ndjson';

/** All of a project, those that are over too, a page at a time; what it makes can be imported again. */
export async function* exportSuppressions(
  tx: Tx,
  { projectId, format }: { projectId: number; format: ExportFormat },
): AsyncGenerator<string, void, void> {
  if (format === 'csv') yield csvLine([...COLUMNS, 'created_by']);
  let after: Suppression | null = null;
  do {
    const page: Suppression[] = await listSuppressions(tx, {
      projectId,
      after,
      limit: SUPPRESSIONS_PAGE_MAX,
    });
    if (page.length > 0) yield page.map((row) => lineOf(row, format)).join('\n');
    after = page.length === SUPPRESSIONS_PAGE_MAX ? (page.at(-1) ?? null) : null;
  } while (after !== null);
}

function lineOf(
  { kind, value, reason, until, createdAt, createdBy }: Suppression,
  format: ExportFormat,
): string {
  const row = {
    email: kind === 'address' ? value : null,
    user: kind === 'person' ? value : null,
    reason,
    until: until === null ? null : iso(until),
    created_at: iso(createdAt),
    created_by: createdBy,
  };
  if (format === 'ndjson') return JSON.stringify(row);
  return csvLine(Object.values(row).map((cell) => cell && plainCell(cell)));
}
