import { findSnapshot } from '../billing/reads.ts';
import { keepPage, type ReadPage } from '../billing/keep-page.ts';
import { OBJECTS_MAX, type Snapshot } from '../billing/snapshot.ts';
import { ImportHalt } from '../source.ts';
import type { Kind } from '../stripe-api/pages.ts';
import { StripeRefusal } from '../stripe-api/refusal.ts';
import type { StripeReader } from '../stripe-api/open-stripe.ts';
import type { StripeAsked } from '../run/deps.ts';
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
  one: StripeAsked,
  signal: AbortSignal,
): AsyncGenerator<Snapshot, void, undefined> {
  let snapshot = (await findSnapshot(deps.db, one)) ?? NOTHING_READ;
  yield snapshot;
  if (isBeingRead(snapshot)) {
    const stripe = await orHalt(() => deps.openReader(one.key));
    try {
      await orHalt(() => stripe.checkPermissions(signal));
      while (isBeingRead(snapshot)) {
        snapshot = await readOne(deps, one, { stripe, snapshot, signal });
        yield snapshot;
      }
    } finally {
      stripe.close();
    }
  }
  while (snapshot.step === 'match') {
    signal.throwIfAborted();
    snapshot = await matchCustomers(deps.db, one, snapshot);
    yield snapshot;
  }
}

type Reading = Snapshot & { step: Kind };

function isBeingRead(snapshot: Snapshot): snapshot is Reading {
  return snapshot.step !== 'match' && snapshot.step !== 'done';
}

const NOTHING_READ: Snapshot = { step: 'product', after: null, objects: 0 };

/** Stripe counts seconds. */
export function inSeconds(ms: number): number {
  return Math.floor(ms / 1_000);
}

async function readOne(
  { db }: StripeDeps,
  one: StripeAsked,
  { stripe, snapshot, signal }: { stripe: StripeReader; snapshot: Reading; signal: AbortSignal },
): Promise<Snapshot> {
  const { after, step: kind } = snapshot;
  const asOf = inSeconds(one.asOf);
  const { facts, next } = await orHalt(() => stripe.page(kind, { asOf, after, signal }));
  if (snapshot.objects > OBJECTS_MAX) {
    throw new ImportHalt(
      'unreadable',
      'This account has more than ten million customers, subscriptions and invoices.',
    );
  }
  const page = { kind, facts, next } as ReadPage;
  return db.transaction((tx) => keepPage(tx, one, { page, before: snapshot }));
}

async function orHalt<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof StripeRefusal) throw new ImportHalt(error.reason, error.message, { cause: error });
    throw error;
  }
}
