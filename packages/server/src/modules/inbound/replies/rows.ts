import type { Reply, ReplyKind, ReplySign } from './reply.ts';

export type ReplyRow = {
  project_id: number;
  id: string;
  message_id: string;
  draft_id: string;
  external_user_id: string;
  kind: ReplyKind;
  verified: ReplySign;
  received_at: Date;
  from_address: string;
  from_name: string;
  subject: string;
  text: string;
  forward_at: Date | null;
  forward_attempts: number;
  forwarded_at: Date | null;
  forward_error: string | null;
};

export const COLUMNS = `r.project_id, r.id, r.message_id, r.draft_id, r.external_user_id, r.kind, r.verified, r.received_at,
  r.from_address, r.from_name, r.subject, r.text, r.forward_at, r.forward_attempts, r.forwarded_at, r.forward_error`;

export function toReply(row: ReplyRow): Reply {
  return {
    projectId: row.project_id,
    id: row.id,
    messageId: row.message_id,
    draftId: row.draft_id,
    userId: row.external_user_id,
    kind: row.kind,
    verified: row.verified,
    receivedAt: row.received_at.getTime(),
    fromAddress: row.from_address,
    fromName: row.from_name,
    subject: row.subject,
    text: row.text,
    forwardAt: row.forward_at?.getTime() ?? null,
    forwardAttempts: row.forward_attempts,
    forwardedAt: row.forwarded_at?.getTime() ?? null,
    forwardError: row.forward_error,
  };
}
