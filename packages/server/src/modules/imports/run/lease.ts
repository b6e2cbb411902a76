import { type ImportLease, updateLease } from '../store.ts';
import type { Import } from '../import.ts';
import type { ImportDeps } from './deps.ts';

/** The import of a killed worker can be claimed again after this time. */
export const LEASE_MS = 15_000;
const RENEW_EVERY_MS = 5_000;

export type Lease = {
  /** Aborted when another worker has taken over the import, or when this worker has to stop. */
  signal: AbortSignal;
  end(): void;
};

/** Renews the lease of an import while a worker is busy, also while it waits for the source. Aborts `signal` when the lease is lost. */
export function holdLease(
  deps: Pick<ImportDeps, 'db' | 'log'>,
  claim: ImportLease,
  stop: AbortSignal,
): Lease {
  const lost = new AbortController();
  const timer = setInterval(() => {
    const until = new Date(deps.db.clock.now() + LEASE_MS);
    updateLease(deps.db, claim, until).then(
      (isOurs) => {
        if (!isOurs) lost.abort(new Error('another worker has taken over the import'));
      },
      (error: unknown) => deps.log.warn({ err: error, import_id: claim.id }, 'import.lease_not_renewed'),
    );
  }, RENEW_EVERY_MS);
  timer.unref();
  return {
    signal: AbortSignal.any([stop, lost.signal]),
    end: () => clearInterval(timer),
  };
}

/** Releases the lease, so that another worker can continue at once. */
export async function releaseLease(deps: Pick<ImportDeps, 'db'>, job: Import): Promise<void> {
  await updateLease(deps.db, job, null);
}
