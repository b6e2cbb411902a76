/**
 * As which database this one is known. A restore to a point in time begins a new timeline, a copy into another cluster has
 * another system: whoever finds either of them new looks at a database that may know less than was done in its name.
 */
export type Place = { systemId: string; timeline: number };

export type Lineage = Place & {
  /** When a process of ours first found it so. */
  seenAt: Date;
  /** Null: it was restored, and letters wait until somebody has confirmed that. */
  acceptedAt: Date | null;
  how: How | null;
  /** Up to when the database knows what happened, and when the server before it stopped; where somebody confirmed it. */
  restoredTo: Date | null;
  stoppedAt: Date | null;
};

export type How = 'set_up' | 'confirmed' | 'nothing_lost' | 'failover' | 'upgraded';

/** What is to be done with a database that is found restored: a person says so, or it is a failover that loses nothing. */
export const RESTORE_GUARDS = ['auto', 'manual'] as const;
export type RestoreGuard = (typeof RESTORE_GUARDS)[number];
