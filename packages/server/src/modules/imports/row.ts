import type { ImportCheck, ImportKind, ImportMapping, ImportState } from '@beckon/contract/dashboard';
import type { Counts, Import } from './import.ts';
import type { Place } from './source.ts';

/** A row of `import` without its key. */
export type ImportRow = {
  project_id: number;
  id: string;
  kind: ImportKind;
  name: string;
  state: ImportState;
  problem: string | null;
  size_bytes: number | null;
  file_modified_at: number | null;
  mapping: ImportMapping | null;
  options: { unmatchedAsCustomers: boolean } | null;
  is_live: boolean;
  check_report: ImportCheck | null;
  place: Place | null;
  counts: Counts;
  facts: { [name: string]: number };
  findings: number;
  pace: number | null;
  waits_for: 'queue' | null;
  epoch: number;
  lease_until: Date | null;
  queued_at: Date | null;
  created_at: Date;
  created_by: string;
  changed_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
};

export const COLUMNS = `project_id, id, kind, name, state, problem, size_bytes, file_modified_at, mapping, options, is_live,
  check_report, place, counts, facts, findings, pace, waits_for, epoch, lease_until, queued_at, created_at, created_by,
  changed_at, started_at, ended_at`;

export function toImport(row: ImportRow): Import {
  return {
    projectId: row.project_id,
    id: row.id,
    kind: row.kind,
    name: row.name,
    state: row.state,
    problem: row.problem,
    sizeBytes: row.size_bytes,
    fileModifiedAt: row.file_modified_at,
    mapping: row.mapping,
    options: row.options,
    isLive: row.is_live,
    check: row.check_report,
    place: row.place,
    counts: row.counts,
    facts: row.facts,
    findings: row.findings,
    pace: row.pace,
    waitsFor: row.waits_for,
    epoch: row.epoch,
    leaseUntil: row.lease_until?.getTime() ?? null,
    queuedAt: row.queued_at?.getTime() ?? null,
    createdAt: row.created_at.getTime(),
    createdBy: row.created_by,
    changedAt: row.changed_at.getTime(),
    startedAt: row.started_at?.getTime() ?? null,
    endedAt: row.ended_at?.getTime() ?? null,
  };
}
