import { findSnapshot } from '../billing/reads.ts';
import { keepPage, type ReadPage } from '../billing/keep-page.ts';
import { OBJECTS_MAX, type Snapshot } from '../billing/snapshot.ts';
import { ImportHalt } from '../source.ts';
import type { Kind } from '../stripe-api/pages.ts';
import { StripeRefusal } from '../stripe-api/refusal.ts';
import type { StripeReader } from '../stripe-api/open-stripe.ts';
import type { StripeSourceOptions } from '../run/deps.ts';
import { matchCustomers } from './match-customers.ts';
import type { Database } from '../../../platform/db/database.ts';

export type StripeDeps = {
  db: Pick<Database, 'transaction' | 'query' | 'prepared'>;
  openReader: (key: string) => Promise<StripeReader>;
};

/**
 * Reads Stripe page by page into Beckon's own tables, from where it stopped, and then matches the customers. Each page is stored in the
 * transaction that records the progress, so a killed worker repeats at most one page.
 */
export async function* readSnapshot(
  deps: StripeDeps,
  options: StripeSourceOptions,
  signal: AbortSignal,
): AsyncGenerator<Snapshot, void, undefined> {
  let snapshot = (await findSnapshot(deps.db, options)) ?? NOTHING_READ;
  yield snapshot;
  if (isBeingRead(snapshot)) {
    const stripe = await orHalt(() => deps.openReader(options.key));
    try {
      await orHalt(() => stripe.checkPermissions(signal));
      while (isBeingRead(snapshot)) {
        snapshot = await readNextPage(deps, options, { stripe, snapshot, signal });
        yield snapshot;
      }
    } finally {
      stripe.close();
    }
  }
  while (snapshot.step === 'match') {
    signal.throwIfAborted();
    snapshot = await matchCustomers(deps.db, options, snapshot);
    yield snapshot;
  }
}

type OpenSnapshot = Snapshot & { step: Kind };

function isBeingRead(snapshot: Snapshot): snapshot is OpenSnapshot {
  return snapshot.step !== 'match' && snapshot.step !== 'done';
}

const NOTHING_READ: Snapshot = { step: 'product', after: null, objects: 0 };

/** Stripe counts seconds. */
export function inSeconds(ms: number): number {
  return Math.floor(ms / 1_000);
}

async function readNextPage(
  { db }: StripeDeps,
  options: StripeSourceOptions,
  { stripe, snapshot, signal }: { stripe: StripeReader; snapshot: OpenSnapshot; signal: AbortSignal },
): Promise<Snapshot> {
  const { after, step: kind } = snapshot;
  const asOf = inSeconds(options.asOf);
  const { facts, next } = await orHalt(() => stripe.page(kind, { asOf, after, signal }));
  if (snapshot.objects > OBJECTS_MAX) {
    throw new ImportHalt(
      'unreadable',
      'This account has more than ten million customers, subscriptions and invoices.',
    );
  }
  const page = { kind, facts, next } as ReadPage;
  return db.transaction((tx) => keepPage(tx, options, { page, before: snapshot }));
}

async function orHalt<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof StripeRefusal) throw new ImportHalt(error.reason, error.message, { cause: error });
    throw error;
  }
}
