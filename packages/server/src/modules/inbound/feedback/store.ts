/** Writes `relay_event`. */

import { plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { RelayId } from '../../sending/index.ts';

/** Returns which of these events of a relay were applied before. */
export async function findAppliedEvents(
  tx: Tx,
  { projectId, id, eventIds }: RelayId & { eventIds: string[] },
): Promise<Set<string>> {
  const rows = await tx.query<{ event_id: string }>(
    `SELECT event_id FROM beckon.relay_event WHERE project_id = $1 AND relay = $2 AND event_id = ANY ($3::text[])`,
    [projectId, id, plainList(eventIds)],
  );
  return new Set(rows.map((row) => row.event_id));
}

export async function insertAppliedEvents(
  tx: Tx,
  { projectId, id, eventIds, at }: RelayId & { eventIds: string[]; at: number },
): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.relay_event (project_id, relay, event_id, received_at)
     SELECT $1, $2, event_id, $4 FROM unnest($3::text[]) AS input(event_id) ON CONFLICT DO NOTHING`,
    [projectId, id, plainList(eventIds), new Date(at)],
  );
}

/** Deletes the oldest events of all relays. Returns how many. */
export async function deleteAppliedEvents(
  tx: Tx,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM beckon.relay_event e USING (
       SELECT project_id, relay, event_id FROM beckon.relay_event WHERE received_at < $1
       ORDER BY received_at LIMIT $2
     ) AS old
     WHERE e.project_id = old.project_id AND e.relay = old.relay AND e.event_id = old.event_id RETURNING 1`,
    [before, limit],
  );
  return rows.length;
}

/** The email that an event is about. */
export type FeedbackEmail = {
  projectId: number;
  emailId: string;
  draftId: string;
  relayEmailId: string | null;
};

type EmailRow = { project_id: number; id: string; draft_id: string; relay_id: string | null };

function toEmail({
  project_id: projectId,
  id,
  draft_id: draftId,
  relay_id: relayEmailId,
}: EmailRow): FeedbackEmail {
  return { projectId, emailId: id, draftId, relayEmailId };
}

/** Finds emails by project and id, of those that were sent through this relay. `relay`: null for that of `SMTP_URL`. Reads `email`. */
export async function findEmailsById(
  tx: Tx,
  { relay, names }: { relay: string | null; names: { projectId: number; emailId: string }[] },
): Promise<FeedbackEmail[]> {
  const rows = await tx.query<EmailRow>(
    `SELECT m.project_id, m.id, m.draft_id, m.relay_id
     FROM unnest($1::bigint[], $2::uuid[]) AS input(project_id, id)
     JOIN beckon.email m ON m.project_id = input.project_id AND m.id = input.id AND m.relay IS NOT DISTINCT FROM $3::uuid`,
    [
      plainList(names.map(({ projectId }) => projectId)),
      plainList(names.map(({ emailId }) => emailId)),
      relay,
    ],
  );
  return rows.map(toEmail);
}

/**
 * Finds emails by the id that the relay gave to them. `projectId`: the owner of the relay; null for a relay of the installation, whose
 * emails may be of any project. It reads one index for each project. Reads `email` and `project`.
 */
export async function findEmailsByRelayId(
  tx: Tx,
  { relay, projectId, relayEmailIds }: { relay: string; projectId: number | null; relayEmailIds: string[] },
): Promise<FeedbackEmail[]> {
  const rows = await tx.query<EmailRow>(
    `SELECT m.project_id, m.id, m.draft_id, m.relay_id FROM beckon.project p
     CROSS JOIN LATERAL (
       SELECT project_id, id, draft_id, relay_id FROM beckon.email
       WHERE project_id = p.project_id AND relay = $1 AND relay_id = ANY ($2::text[])
     ) m
     WHERE $3::bigint IS NULL OR p.project_id = $3`,
    [relay, plainList(relayEmailIds), projectId],
  );
  return rows.map(toEmail);
}
