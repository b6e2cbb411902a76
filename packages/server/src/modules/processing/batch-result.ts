import type { RecordBatch, AppliedRecords } from './apply-records.ts';

/** The result of a batch. */
export type BatchResult = {
  projects: number;
  records: number;
  events: number;
  /** The acceptance time of the record that waited longest; null if no record waited. */
  oldestAt: number | null;
  /** The last project that was processed. */
  lastProjectId: number | null;
  /** Warnings about processed records: known traits that are not text, and traits that exceed the size limit. */
  warnings: { projectId: number; code: string }[];
};

export const EMPTY_BATCH: BatchResult = {
  projects: 0,
  records: 0,
  events: 0,
  oldestAt: null,
  lastProjectId: null,
  warnings: [],
};

export function batchResultOf(
  { records, progress, dropped }: RecordBatch,
  { events, people }: AppliedRecords,
): BatchResult {
  const warnings = [...people.values()].flatMap(({ person: { projectId }, change }) =>
    [...change.warnings].map((code) => ({ projectId, code })),
  );
  return {
    projects: new Set(progress.map(({ projectId }) => projectId)).size,
    records: records.length + dropped,
    events: events.length,
    oldestAt: records.reduce<number | null>(
      (oldest, { acceptedAt }) => Math.min(oldest ?? acceptedAt, acceptedAt),
      null,
    ),
    lastProjectId: progress.at(-1)?.projectId ?? null,
    warnings,
  };
}
