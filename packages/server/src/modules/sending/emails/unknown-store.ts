/** Settles emails in the table `email` whose delivery is unknown. */

import { momentList, plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { AskUpdate, ResolvedEmail } from './email-end.ts';

/** Records what was proven later about emails with an unknown delivery. */
export async function resolveEmails(tx: Tx, resolved: ResolvedEmail[]): Promise<void> {
  if (resolved.length === 0) return;
  await tx.query(
    `UPDATE beckon.email m SET state = n.state, reason = n.reason, reply = coalesce(n.reply, m.reply),
       relay_id = coalesce(n.relay_id, m.relay_id), ask_at = NULL
     FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[])
       AS n(project_id, draft_id, state, reason, reply, relay_id)
     WHERE m.project_id = n.project_id AND m.draft_id = n.draft_id AND m.state = 'unknown'`,
    [
      plainList(resolved.map((email) => email.projectId)),
      plainList(resolved.map((email) => email.draftId)),
      plainList(resolved.map((email) => email.state)),
      resolved.map((email) => email.reason),
      resolved.map((email) => email.reply ?? null),
      resolved.map((email) => email.relayId ?? null),
    ],
  );
}

/** Records when the relays of emails with an unknown delivery are next asked. The next time is committed before the question. */
export async function updateAsks(
  tx: Tx,
  { projectId, updates }: { projectId: number; updates: AskUpdate[] },
): Promise<void> {
  if (updates.length === 0) return;
  await tx.query(
    `UPDATE beckon.email m SET ask_at = n.ask_at, asks = m.asks + n.is_asked::int
     FROM unnest($2::uuid[], $3::timestamptz[], $4::boolean[]) AS n(draft_id, ask_at, is_asked)
     WHERE m.project_id = $1 AND m.draft_id = n.draft_id AND m.state = 'unknown'`,
    [
      projectId,
      plainList(updates.map(({ draftId }) => draftId)),
      momentList(updates.map(({ askAt }) => askAt)),
      updates.map(({ isAsked }) => isAsked),
    ],
  );
}
