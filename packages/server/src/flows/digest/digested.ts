import type { Batch, Folded } from './fold.ts';

/** What a batch came to. */
export type Digested = {
  projects: number;
  records: number;
  events: number;
  /** The moment of acceptance of the record that waited longest; null where nothing waited. */
  oldestAt: number | null;
  /** The last project whose turn it was. */
  lastProjectId: number | null;
  /** What was digested and is odd: known traits that were no text, traits for which there was no room. */
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

export function summaryOf({ records, taken, dropped }: Batch, { events, people }: Folded): Digested {
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
