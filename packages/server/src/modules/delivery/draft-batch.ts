import type { NewId } from '../../platform/ids.ts';
import type { Decision, Model, Models } from '../rules/index.ts';
import type { DraftChange } from '../drafts/index.ts';
import type { EmailEnd, NewEmail } from '../sending/index.ts';
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
  /** How many emails may be claimed. */
  capacity: number;
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
  bucket: Gates['bucket'];
};

export type Tokens = { bucket: Gates['bucket']; remaining: number };
