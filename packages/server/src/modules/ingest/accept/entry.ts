/** A valid request, ready to be stored. */
export type IngestEntry = {
  /** The API key of the request. It is checked again in the transaction that stores the entry. */
  key: { id: string; projectId: number; last4: string };
  /** Null if the caller sent no Idempotency-Key. */
  once: IdempotencyRecord | null;
  kind: 'users' | 'events';
  /** Number of records in `parts`; 0 if every record of a bulk request was rejected. */
  records: number;
  /** The records as they are stored: JSON objects joined by commas. */
  parts: string;
  /** Kept for replays; a null body means the plain acceptance. */
  reply: IngestResponse;
};

/** An Idempotency-Key and the fingerprint of its request, both in hex. */
export type IdempotencyRecord = { key: string; fingerprint: string };

export type IngestResponse = { status: number; body: string | null };

export type IngestResult =
  | { state: 'stored' }
  | { state: 'replayed'; reply: IngestResponse }
  /** This Idempotency-Key was used with another body less than 24 hours ago. */
  | { state: 'reused' }
  /** The API key was revoked, or its project suspended, after it was verified. */
  | { state: 'key_dead' }
  | { state: 'queue_full'; waiting: number };

/** Returns a name for a project's Idempotency-Key that is unique in this process. */
export function onceName(projectId: number, key: string): string {
  return `${projectId} ${key}`;
}
