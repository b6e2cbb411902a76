import type {
  CustomerFacts,
  CustomerHistory,
  SnapshotRef,
  InvoiceFacts,
  PriceFacts,
  ProductFacts,
  Snapshot,
  SnapshotStep,
  StoredCustomer,
  SubscriptionFacts,
} from './snapshot.ts';
import type { Tx } from '../../../platform/db/statements.ts';

type SnapshotRow = {
  step: SnapshotStep;
  after_id: string | null;
  after_created: number | null;
  objects: number;
};

export async function findSnapshot(tx: Tx, ref: SnapshotRef): Promise<Snapshot | null> {
  const [row] = await tx.query<SnapshotRow>(
    `SELECT step, after_id, after_created, objects FROM beckon.billing_snapshot WHERE project_id = $1 AND import_id = $2`,
    [ref.projectId, ref.importId],
  );
  if (!row) return null;
  const after = row.after_id === null ? null : { id: row.after_id, created: row.after_created ?? 0 };
  return { step: row.step, after, objects: row.objects };
}

export type Undecided = {
  id: string;
  address: string | null;
  namedUserId: string | null;
  isDeleted: boolean;
};

export async function listUndecided(tx: Tx, ref: SnapshotRef, limit: number): Promise<Undecided[]> {
  return tx.query<Undecided>(
    `SELECT customer_id AS id, address, named_user_id AS "namedUserId", created IS NULL AS "isDeleted" FROM beckon.billing_customer
     WHERE project_id = $1 AND import_id = $2 AND matched_by IS NULL ORDER BY customer_id LIMIT $3`,
    [ref.projectId, ref.importId, limit],
  );
}

/** Lists the users named by other customers with these addresses. Two per address are enough, because two are already ambiguous. */
export async function listNamed(
  tx: Tx,
  ref: SnapshotRef,
  addresses: string[],
): Promise<{ address: string; namedUserId: string }[]> {
  return tx.query(
    `SELECT a.address, n.named_user_id AS "namedUserId" FROM unnest($3::text[]) AS a(address) CROSS JOIN LATERAL (
       SELECT DISTINCT c.named_user_id FROM beckon.billing_customer c
       WHERE c.project_id = $1 AND c.import_id = $2 AND c.address = a.address AND c.named_user_id IS NOT NULL ORDER BY c.named_user_id LIMIT 2) n`,
    [ref.projectId, ref.importId, addresses],
  );
}

type CustomerRow = {
  customer_id: string;
  facts: Partial<CustomerFacts>;
  matched_by: StoredCustomer['matchedBy'];
  user_id: string | null;
  match_reason: string | null;
  is_known: boolean;
  has_address: boolean;
  is_newest: boolean;
  is_oldest: boolean;
};

export type CustomerPage = SnapshotRef & { behind: { id: string; inclusive: boolean } | null; limit: number };

/** Lists customers by id with all their data, after a given one or starting with it. */
export async function listHistories(tx: Tx, page: CustomerPage): Promise<CustomerHistory[]> {
  const customers = await listCustomers(tx, page);
  const ids = customers.map(({ facts }) => facts.id);
  const objects = await listObjects(tx, page, ids);
  return customers.map((customer) => {
    const rows = objects.get(customer.facts.id) ?? [];
    return {
      ...customer,
      subscriptions: rows
        .filter(({ kind }) => kind === 'subscription')
        .map(({ facts }) => facts as SubscriptionFacts),
      invoices: rows.filter(({ kind }) => kind === 'invoice').map(({ facts }) => facts as InvoiceFacts),
    };
  });
}

async function listCustomers(tx: Tx, page: CustomerPage): Promise<StoredCustomer[]> {
  const rows = await tx.prepared<CustomerRow>({
    name: 'billing.list_customers',
    text: `SELECT c.customer_id, c.facts, c.matched_by, c.user_id, c.match_reason, c.is_known, c.has_address,
             NOT EXISTS (${OTHER} AND (o.created, o.customer_id) > (c.created, c.customer_id)) AS is_newest,
             NOT EXISTS (${OTHER} AND (o.created, o.customer_id) < (c.created, c.customer_id)) AS is_oldest
           FROM beckon.billing_customer c WHERE c.project_id = $1 AND c.import_id = $2
             AND (c.customer_id > $3 OR ($4 AND c.customer_id = $3)) AND c.customer_id >= $3
           ORDER BY c.customer_id LIMIT $5`,
    values: [
      page.projectId,
      page.importId,
      page.behind?.id ?? '',
      page.behind?.inclusive ?? false,
      page.limit,
    ],
  });
  return rows.map((row) => ({
    facts: { ...NO_FACTS, ...row.facts, id: row.customer_id },
    matchedBy: row.matched_by,
    userId: row.user_id,
    matchReason: row.match_reason,
    isKnown: row.is_known,
    hasAddress: row.has_address,
    isNewest: row.is_newest,
    isOldest: row.is_oldest,
  }));
}

const OTHER = `SELECT 1 FROM beckon.billing_customer o
  WHERE o.project_id = c.project_id AND o.import_id = c.import_id AND o.user_id = c.user_id`;

const NO_FACTS: Omit<CustomerFacts, 'id'> = {
  created: null,
  email: null,
  name: null,
  company: null,
  currency: null,
  isDelinquent: null,
  userId: null,
};

type ObjectRow = { customer_id: string; kind: string; facts: unknown };

async function listObjects(tx: Tx, ref: SnapshotRef, customers: string[]): Promise<Map<string, ObjectRow[]>> {
  const rows = await tx.prepared<ObjectRow>({
    name: 'billing.list_objects',
    text: `SELECT customer_id, kind, facts FROM beckon.billing_object
           WHERE project_id = $1 AND import_id = $2 AND customer_id = ANY ($3::text[]) AND kind IN ('subscription', 'invoice')
           ORDER BY customer_id, kind, object_id`,
    values: [ref.projectId, ref.importId, customers],
  });
  return Map.groupBy(rows, (row) => row.customer_id);
}

export async function countPrices(tx: Tx, ref: SnapshotRef): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM beckon.billing_object
     WHERE project_id = $1 AND import_id = $2 AND customer_id = '' AND kind = 'price'`,
    [ref.projectId, ref.importId],
  );
  return row?.count ?? 0;
}

/** Lists the names of prices, which belong to no customer. */
export async function listCatalogue(
  tx: Tx,
  ref: SnapshotRef,
): Promise<{ prices: PriceFacts[]; products: ProductFacts[] }> {
  const rows = await tx.query<ObjectRow>(
    `SELECT customer_id, kind, facts FROM beckon.billing_object
     WHERE project_id = $1 AND import_id = $2 AND customer_id = '' AND kind IN ('price', 'product')`,
    [ref.projectId, ref.importId],
  );
  return {
    prices: rows.filter(({ kind }) => kind === 'price').map(({ facts }) => facts as PriceFacts),
    products: rows.filter(({ kind }) => kind === 'product').map(({ facts }) => facts as ProductFacts),
  };
}
