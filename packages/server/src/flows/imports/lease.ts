import { type Claim, type Import, updateLease } from '../../features/imports/index.ts';
import type { ImportDeps } from './deps.ts';

/** Who was killed is missed after so long. */
export const LEASE_MS = 15_000;
const RENEW_EVERY_MS = 5_000;

export type Lease = {
  /** Aborted where it is ours no more, or was to end. */
  signal: AbortSignal;
  end(): void;
};

/** Keeps a claim for as long as somebody works on it, also while a source thinks; whoever has lost it is told to stop. */
export function holdLease(deps: Pick<ImportDeps, 'db' | 'log'>, claim: Claim, stop: AbortSignal): Lease {
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

/** Somebody else may go on at once. */
export async function leaveLease(deps: Pick<ImportDeps, 'db'>, one: Import): Promise<void> {
  await updateLease(deps.db, one, null);
}
