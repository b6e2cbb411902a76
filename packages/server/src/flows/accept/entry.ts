export type Priority = 'live' | 'bulk';

/** One valid request, ready to be stored. */
export type Entry = {
  /** The API key that it came with, checked once more where it is stored. */
  key: { id: string; projectId: number; last4: string };
  /** Null where the caller sent no Idempotency-Key. */
  once: Once | null;
  kind: 'users' | 'events';
  /** How many records `parts` holds; none where every record of a bulk request was refused. */
  records: number;
  /** The records as they are stored: JSON objects joined by commas. */
  parts: string;
  /** Kept for replays; a null body stands for the plain acceptance. */
  reply: Reply;
};

/** An Idempotency-Key and what it was used for, both in hex. */
export type Once = { key: string; fingerprint: string };

export type Reply = { status: number; body: string | null };

export type Verdict =
  | { state: 'stored' }
  | { state: 'replayed'; reply: Reply }
  /** This key came with another body less than 24 hours ago. */
  | { state: 'reused' }
  /** The API key was revoked, or its project suspended, since it was verified. */
  | { state: 'key_dead' }
  | { state: 'queue_full'; waiting: number };

/** One name for a project's Idempotency-Key in this process. */
export function onceName(projectId: number, key: string): string {
  return `${projectId} ${key}`;
}
