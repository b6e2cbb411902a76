import type { Log } from '../../base/log.ts';
import type { Sealer } from '../../base/seal.ts';
import type { ImportSource } from '../../features/imports/index.ts';
import type { Database } from '../../io/db/index.ts';

/** What whoever runs imports is handed. */
export type ImportDeps = {
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock' | 'reach'>;
  log: Log;
  sealer: Sealer;
  openStripe: OpenStripe;
  /** Before something that failed is tried again, twice as long each time, and before a full queue is looked at again. */
  pauseMs: number;
  /** Something was accepted: whoever digests may look. */
  accepted: () => void;
};

/** Everything that a source needs to read an account, the same at every attempt. */
export type OpenStripe = (asked: StripeAsked) => ImportSource;

export type StripeAsked = {
  projectId: number;
  importId: string;
  /** `rk_…` or `sk_…`. */
  key: string;
  /** When the import was made, in milliseconds: what is newer than that is left for the next one. */
  asOf: number;
  /** Customers of whom nobody is known here become people under their `cus_…` id. */
  unmatchedAsCustomers: boolean;
};
