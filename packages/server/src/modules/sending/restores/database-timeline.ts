/**
 * Identifies this database. A restore to a point in time begins a new timeline, and a copy into another cluster has another system id. If
 * either is new, the database may lack effects that already happened, such as emails that were sent.
 */
export type DatabaseIdentity = { systemId: string; timeline: number };

export type DatabaseTimeline = DatabaseIdentity & {
  /** When a Beckon process first saw this identity. */
  seenAt: Date;
  /** Null: the database was restored, and emails wait until an operator confirms it. */
  acceptedAt: Date | null;
  origin: TimelineOrigin | null;
  /**
   * The point in time up to which the database has data, and when the previous server stopped. Both are set if an operator confirmed the
   * restore.
   */
  restoredTo: Date | null;
  stoppedAt: Date | null;
};

export type TimelineOrigin = 'set_up' | 'confirmed' | 'nothing_lost' | 'failover' | 'upgraded';

/**
 * How to proceed with a restored database. `manual`: an operator has to confirm it. `auto`: a failover that loses nothing is accepted
 * automatically.
 */
export const RESTORE_GUARDS = ['auto', 'manual'] as const;
export type RestoreGuard = (typeof RESTORE_GUARDS)[number];
