import type { EmailWebhook, EmailWhole } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';
import { namedZone } from '../../../platform/time/zone.ts';
import { findDraft } from '../../drafts/index.ts';
import { type ReadMail, findEmail, type EmailFound } from '../../sending/index.ts';
import { type ClassifiedHit, listClassifiedHits, listThread, type Reply } from '../../inbound/index.ts';
import { listOutcomesOfDraft, type Outcome, type EmailRef } from '../../outcomes/index.ts';
import { findPeople } from '../../users/index.ts';
import { listWebhookDeliveries } from '../../webhooks/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { Renderer } from '../../rendering/index.ts';
import { findFrozen, type FrozenRow } from '../../delivery/index.ts';

/** A claimed email as it was sent, with everything that is known about its results. */
export type EmailView = {
  email: EmailFound;
  /** The time zone in the user's traits. */
  zone: string | null;
  /** Null if the email was never submitted, or its bytes were deleted. */
  raw: (FrozenRow & { mail: ReadMail }) | null;
  /** The targets of its links, in the order of their numbers. */
  urls: string[];
  hits: ClassifiedHit[];
  hitsCounted: number;
  outcomes: Outcome[];
  webhooks: EmailWebhook[];
  replies: Reply[];
  sendAgain: EmailWhole['send_again'];
};

const OUTCOMES_MAX = 500;
const WEBHOOK_DELIVERIES_MAX = 500;

/** Reads the raw email in a thread: it may have a megabyte, which takes 0.25 s. */
export async function showEmail(
  { tx, renderer }: { tx: Tx; renderer: Renderer },
  { projectId, id }: { projectId: number; id: string },
): Promise<EmailView> {
  const email = await requireEmail(tx, { projectId, id });
  const { draft_id: draftId, external_user_id: userId } = email;
  const key = { projectId, emailId: id };
  const raw = await findBytes(tx, { projectId, draftId });
  const outcomes = await listOutcomesOfDraft(tx, { projectId, draftId, limit: OUTCOMES_MAX });
  const webhookIds = outcomes.map((outcome) => outcome.id);
  const { hits, counted } = await listClassifiedHits(tx, key);
  const [person] = await findPeople(tx, [{ projectId, userId }]);
  return {
    email,
    zone: person ? namedZone([person.traits.get('timezone'), person.traits.get('time_zone')]) : null,
    raw: raw && { ...raw, mail: await renderer.run('readMail', raw.mime, { projectId }) },
    urls: await findUrls(tx, key),
    hits,
    hitsCounted: counted,
    outcomes,
    webhooks: await listWebhookDeliveries(tx, {
      projectId,
      webhookIds,
      limit: WEBHOOK_DELIVERIES_MAX,
    }),
    replies: await listThread(tx, key),
    sendAgain: await resendState(tx, { projectId, draftId }),
  };
}

/** Returns the bytes of an email as they were submitted. */
export async function showEmailBytes(
  tx: Tx,
  { projectId, id }: { projectId: number; id: string },
): Promise<{ email: EmailFound; mime: Buffer }> {
  const email = await requireEmail(tx, { projectId, id });
  const frozen = await findBytes(tx, { projectId, draftId: email.draft_id });
  if (!frozen)
    throw notFound(
      'The source of this email is not stored: it was never submitted, or its retention time is over',
    );
  return { email, mime: frozen.mime };
}

async function requireEmail(
  tx: Tx,
  { projectId, id }: { projectId: number; id: string },
): Promise<EmailFound> {
  const email = UUID.test(id) ? await findEmail(tx, { projectId, id }) : undefined;
  if (!email) throw notFound(`This project has no email ${JSON.stringify(id)}`);
  return email;
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

async function findBytes(
  tx: Tx,
  { projectId, draftId }: { projectId: number; draftId: string },
): Promise<FrozenRow | null> {
  return (await findFrozen(tx, { projectId, draftIds: [draftId] })).get(draftId) ?? null;
}

/** Decides as `sendAgain` does: once per draft, and only for an email that failed or whose delivery is unknown. */
async function resendState(
  tx: Tx,
  { projectId, draftId }: { projectId: number; draftId: string },
): Promise<EmailWhole['send_again']> {
  const found = await findDraft(tx, projectId, draftId);
  if (!found || found.moves.some(({ action }) => action === 'send_again')) return 'unavailable';
  if (found.draft.state === 'unknown') return 'requires_confirmation';
  return found.draft.state === 'failed' ? 'available' : 'unavailable';
}

function notFound(message: string): Fault {
  return new Fault('not_found', { details: [{ message, field: 'email' }] });
}

/** Returns the link targets of an email by link number. Empty if its clicks are not tracked. Reads a table of the outcomes module. */
export async function findUrls(tx: Tx, { projectId, emailId }: EmailRef): Promise<string[]> {
  const rows = await tx.query<{ urls: string[] }>(
    `SELECT urls FROM beckon.tracking_link WHERE project_id = $1 AND email_id = $2`,
    [projectId, emailId],
  );
  return rows[0]?.urls ?? [];
}
