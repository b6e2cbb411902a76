import type { Tx } from '../../../platform/db/statements.ts';
import { type PersonId, personKey } from './people.ts';
import { listByAddress, listEmails } from './reads.ts';

/** Returns the addresses of those users who have one, by `personKey`. */
export async function findEmails(tx: Tx, people: PersonId[]): Promise<Map<string, string>> {
  if (people.length === 0) return new Map();
  const rows = await listEmails(tx, people);
  return new Map(
    rows.map((row) => [personKey({ projectId: row.project_id, userId: row.external_user_id }), row.email]),
  );
}

/** Finds all users of a project with one of these addresses, ignoring case. */
export async function findByAddress(
  tx: Tx,
  projectId: number,
  addresses: string[],
): Promise<{ userId: string; email: string }[]> {
  if (addresses.length === 0) return [];
  const rows = await listByAddress(tx, projectId, [...new Set(addresses.map((one) => one.toLowerCase()))]);
  return rows.map((row) => ({ userId: row.external_user_id, email: row.email }));
}
