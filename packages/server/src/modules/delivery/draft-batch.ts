import type { NewId } from '../../platform/ids.ts';
import type { Decision, Model, Models } from '../rules/index.ts';
import type { DraftChange } from '../drafts/index.ts';
import type { EmailEnd, NewEmail, RelayRef } from '../sending/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { BatchTx } from '../../platform/db/session-transactions.ts';
import type { Gates } from './send-checks.ts';
import type { ClaimedEmail } from './compose-email.ts';
import type { SendServices } from './send-services.ts';

export type SendDeps = {
  db: Database;
  newId: NewId;
  models: Models;
  sendServices: SendServices;
  /** See `SenderOptions`. */
  togetherMs: number;
};

/** The input for deciding about the due drafts of one project, in one transaction. */
export type DraftBatch = {
  tx: BatchTx;
  deps: SendDeps;
  projectId: number;
  model: Model;
  now: number;
  room: Room;
};

/** How many emails may be claimed, for each relay. */
export type Room = {
  /** The most that may be claimed for any relay. */
  most: number;
  /** Null: the relay of `SMTP_URL`. */
  of(relay: RelayRef | null): { capacity: number; closedUntil: number | null };
};

/** Room for one relay that accepts emails. */
export function roomFor(capacity: number): Room {
  return { most: capacity, of: () => ({ capacity, closedUntil: null }) };
}

/** What keeps due drafts from being claimed although they pass their send checks. */
export type Blocked = {
  relay: RelayRef | null;
  /** When its relay may accept emails again. Null: it accepts them, and has no room. */
  until: number | null;
  draftIds: string[];
};

export type DraftBatchResult = {
  moved: DraftChange[];
  /** Drafts that stay held for the same reason, and when they are checked again. */
  later: { draftId: string; dueAt: number }[];
  emails: ClaimedEmail[];
  messages: NewEmail[];
  /** Emails that get no further attempt. */
  ends: EmailEnd[];
  domainLimits: Gates['domainLimits'];
  decisions: Decision[];
  /** How many emails were claimed, by the key of their connection. */
  claims: Map<string, number>;
  /** By the same key. */
  blocked: Map<string, Blocked>;
  bucket: Gates['bucket'];
};

export type Tokens = { bucket: Gates['bucket']; remaining: number };
