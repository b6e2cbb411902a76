import { findErasedHashes, type ImportRef, personHash } from '../../features/imports/index.ts';
import type { Tx } from '../../io/db/index.ts';
import type { Found, Good, ReadChunk } from './read-chunk.ts';

/** What is left of something when those who were erased are left out. */
export type LeaveOut = {
  /** `erased`: how many of its rows are left out. */
  ofChunk(read: ReadChunk): ReadChunk & { erased: number };
  ofFindings(findings: Found[]): Found[];
};

/**
 * Whoever was erased since this import began was wanted gone, whatever its source says of them, and wherever it says it: a row that
 * is rejected would be shown as it came. The import is locked, or somebody may be erased behind this.
 */
export async function findErased(tx: Tx, ref: ImportRef): Promise<LeaveOut> {
  const hashes = await findErasedHashes(tx, ref);
  if (hashes.size === 0)
    return { ofChunk: (read) => ({ ...read, erased: 0 }), ofFindings: (findings) => findings };
  const isErased = (userId: string): boolean =>
    hashes.has(personHash(ref, userId)) || hashes.has(personHash(ref, userId.trim()));
  const isLeft = ({ userId }: Found): boolean => userId === null || !isErased(userId);
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
    // Whose it is says no hash where a row has no id: it may be theirs, and its words are not kept.
    ofFindings: (findings) =>
      findings.filter(isLeft).map((found) => (found.userId === null ? { ...found, raw: '' } : found)),
  };
}

function countOf({ users, events, rejected }: ReadChunk): number {
  return users.length + events.length + rejected.length;
}
