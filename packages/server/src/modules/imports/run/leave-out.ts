import { findErasedHashes } from '../reads.ts';
import type { ImportRef } from '../store.ts';
import { personHash } from './erase-imported.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { RowFinding, Good, ReadChunk } from './read-chunk.ts';

/** Filters erased users out of a chunk or its findings. */
export type LeaveOut = {
  /** `erased`: how many rows of the chunk are left out. */
  ofChunk(read: ReadChunk): ReadChunk & { erased: number };
  ofFindings(findings: RowFinding[]): RowFinding[];
};

/**
 * Returns a filter for the users who were erased since this import began. It covers rejected rows too, because these are shown as they
 * came. The import must be locked: otherwise a user could be erased right after this read.
 */
export async function findErased(tx: Tx, ref: ImportRef): Promise<LeaveOut> {
  const hashes = await findErasedHashes(tx, ref);
  if (hashes.size === 0)
    return { ofChunk: (read) => ({ ...read, erased: 0 }), ofFindings: (findings) => findings };
  const isErased = (userId: string): boolean =>
    hashes.has(personHash(ref, userId)) || hashes.has(personHash(ref, userId.trim()));
  const isLeft = ({ userId }: RowFinding): boolean => userId === null || !isErased(userId);
  const isRecordLeft = ({ record }: Good<{ external_user_id: string }>): boolean =>
    !isErased(record.external_user_id);
  return {
    ofChunk(read) {
      const left = {
        users: read.users.filter(isRecordLeft),
        events: read.events.filter(isRecordLeft),
        rejected: read.rejected.filter(isLeft),
      };
      return { ...left, erased: countOf(read) - countOf(left) };
    },
    // A row without a user id cannot be compared with the hashes. It may belong to an erased user, so its text is not kept.
    ofFindings: (findings) =>
      findings.filter(isLeft).map((found) => (found.userId === null ? { ...found, raw: '' } : found)),
  };
}

function countOf({ users, events, rejected }: ReadChunk): number {
  return users.length + events.length + rejected.length;
}
