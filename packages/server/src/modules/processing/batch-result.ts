import type { RecordBatch, Folded } from './apply-records.ts';

/** The result of a batch. */
export type Digested = {
  projects: number;
  records: number;
  events: number;
  /** The acceptance time of the record that waited longest; null if no record waited. */
  oldestAt: number | null;
  /** The last project that was processed. */
  lastProjectId: number | null;
  /** Warnings about processed records: known traits that are not text, and traits that exceed the size limit. */
  odd: { projectId: number; code: string }[];
};

export const NOTHING_DIGESTED: Digested = {
  projects: 0,
  records: 0,
  events: 0,
  oldestAt: null,
  lastProjectId: null,
  odd: [],
};

export function summaryOf({ records, taken, dropped }: RecordBatch, { events, people }: Folded): Digested {
  const odd = [...people.values()].flatMap(({ person: { projectId }, change }) =>
    [...change.warnings].map((code) => ({ projectId, code })),
  );
  return {
    projects: new Set(taken.map(({ projectId }) => projectId)).size,
    records: records.length + dropped,
    events: events.length,
    oldestAt: records.reduce<number | null>(
      (oldest, { acceptedAt }) => Math.min(oldest ?? acceptedAt, acceptedAt),
      null,
    ),
    lastProjectId: taken.at(-1)?.projectId ?? null,
    odd,
  };
}
