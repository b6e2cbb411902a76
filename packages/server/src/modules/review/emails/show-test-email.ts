import { Fault } from '../../../platform/fault.ts';
import { type CheckedMail, findMail, type WholeMail } from '../../sending/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { Renderer } from '../../rendering/index.ts';
import { checkLetter } from './check-email.ts';

export type ShownMail = { mail: WholeMail } & Pick<CheckedMail, 'html' | 'text' | 'checks'>;

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Returns one whole email of the test inbox, as a reader would see it, with the results of its checks. */
export async function showMail(
  { db, renderer }: { db: Tx; renderer: Renderer },
  { projectId, id, copy }: { projectId: number; id: string; copy: number },
): Promise<ShownMail> {
  const mail = await openMail(db, { projectId, id, copy });
  const { html, text, checks } = await checkLetter(
    { db, renderer },
    {
      projectId,
      id,
      raw: mail.raw,
      kind: mail.draftId === null ? 'team' : 'user',
      at: mail.at,
    },
  );
  return { mail, html, text, checks };
}

/** Returns an email without checking it. */
export async function openMail(
  tx: Tx,
  { projectId, id, copy }: { projectId: number; id: string; copy: number },
): Promise<WholeMail> {
  const mail = UUID.test(id) ? await findMail(tx, { projectId, id, copy }) : undefined;
  if (!mail) throw notThere(id, copy);
  return mail;
}

function notThere(id: string, copy: number): Fault {
  const which = copy === 1 ? '' : `, copy ${copy}`;
  const message = `The test inbox of this project has no email ${JSON.stringify(id)}${which}. List its emails with: beckon test-inbox list`;
  return new Fault('not_found', { details: [{ message, field: 'message' }] });
}
