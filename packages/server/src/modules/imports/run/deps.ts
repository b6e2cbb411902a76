import type { Log } from '../../../platform/log.ts';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { ImportSource } from '../source.ts';
import type { Database } from '../../../platform/db/database.ts';

/** The dependencies of an import worker. */
export type ImportDeps = {
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock' | 'failpoint'>;
  log: Log;
  encrypter: Encrypter;
  openStripe: OpenStripe;
  /** The wait before a failed step is retried, doubled each time, and before a full queue is checked again. */
  pauseMs: number;
  /** Called after records were accepted, to wake up the processor. */
  accepted: () => void;
};

/** Opens a source that reads a Stripe account. The arguments are the same at every attempt. */
export type OpenStripe = (options: StripeSourceOptions) => ImportSource;

export type StripeSourceOptions = {
  projectId: number;
  importId: string;
  /** `rk_…` or `sk_…`. */
  key: string;
  /** When the import was created, in milliseconds. Newer data is left for the next import. */
  asOf: number;
  /** True: customers without a matching user become users under their `cus_…` id. */
  unmatchedAsCustomers: boolean;
};
