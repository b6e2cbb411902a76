import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import type { Database } from '../../../platform/db/database.ts';
import { findEmailById } from '../../delivery/index.ts';
import {
  claimOf,
  findEmailByReference,
  findProjectOfEmail,
  type InboundRecipient,
  type InboundReference,
} from './match-email.ts';
import type { ReadInbound } from './reader.ts';

/** The email of ours that an inbound email is about. */
export type ClaimedInbound = {
  projectId: number;
  emailId: string;
  draftId: string;
  userId: string;
  address: string;
};

type FoundClaim = { claim: InboundReference | null; email: ClaimedInbound | null };
type Inbound = Pick<ReadInbound, 'mail' | 'classification'> & { projectId?: number };

/** Finds the email that an inbound email claims to be about. `projectId`: the only project whose emails are considered. */
export async function findClaimed(
  { db, tokenKeys }: { db: Database; tokenKeys: TokenKeys },
  received: Inbound,
  recipient: InboundRecipient,
): Promise<FoundClaim> {
  const { projectId } = received;
  const claim = claimOf(recipient, received, tokenKeys);
  const email = claim && (await findEmail(db, claim, projectId));
  if (email || projectId === undefined) return { claim, email };
  const emailId = await findEmailByReference(db, projectId, received.mail);
  if (emailId === undefined) return { claim, email: null };
  const reference: InboundReference = { by: 'message_id', emailId };
  return { claim: reference, email: await findEmail(db, reference, projectId) };
}

async function findEmail(
  db: Database,
  claim: InboundReference,
  projectId?: number,
): Promise<ClaimedInbound | null> {
  const key = await keyOf(db, claim, projectId);
  if (!key || (projectId !== undefined && key.projectId !== projectId)) return null;
  const found = await findEmailById(db, key);
  return found ? { ...key, ...found } : null;
}

async function keyOf(
  db: Database,
  claim: InboundReference,
  knownProject: number | undefined,
): Promise<{ projectId: number; emailId: string } | null> {
  if (claim.by !== 'message_id') return claim.name;
  const projectId = knownProject ?? (await findProjectOfEmail(db, claim.emailId));
  return projectId === undefined ? null : { projectId, emailId: claim.emailId };
}
