import { findErasedHashes } from '../reads.ts';
import type { ImportRef } from '../store.ts';
import { userHash } from './erase-imported.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { RowFinding, ValidRecord, ReadChunk } from './read-chunk.ts';

/** Filters erased users out of a chunk or its findings. */
export type ErasureFilter = {
  /** `erased`: how many rows of the chunk are left out. */
  ofChunk(read: ReadChunk): ReadChunk & { erased: number };
  ofFindings(findings: RowFinding[]): RowFinding[];
};

/**
 * Returns a filter for the users who were erased since this import began. It covers rejected rows too, because these are shown as they
 * came. The import must be locked: otherwise a user could be erased right after this read.
 */
export async function findErased(tx: Tx, ref: ImportRef): Promise<ErasureFilter> {
  const hashes = await findErasedHashes(tx, ref);
  if (hashes.size === 0)
    return { ofChunk: (read) => ({ ...read, erased: 0 }), ofFindings: (findings) => findings };
  const isErased = (userId: string): boolean =>
    hashes.has(userHash(ref, userId)) || hashes.has(userHash(ref, userId.trim()));
  const isFindingKept = ({ userId }: RowFinding): boolean => userId === null || !isErased(userId);
  const isRecordKept = ({ record }: ValidRecord<{ external_user_id: string }>): boolean =>
    !isErased(record.external_user_id);
  return {
    ofChunk(read) {
      const remaining = {
        users: read.users.filter(isRecordKept),
        events: read.events.filter(isRecordKept),
        rejected: read.rejected.filter(isFindingKept),
      };
      return { ...remaining, erased: countOf(read) - countOf(remaining) };
    },
    // A row without a user id cannot be compared with the hashes. It may belong to an erased user, so its text is not kept.
    ofFindings: (findings) =>
      findings
        .filter(isFindingKept)
        .map((finding) => (finding.userId === null ? { ...finding, raw: '' } : finding)),
  };
}

function countOf({ users, events, rejected }: ReadChunk): number {
  return users.length + events.length + rejected.length;
}
