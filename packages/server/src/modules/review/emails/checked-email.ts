import { findUrls } from './show-email.ts';
import type { Renderer } from '../../rendering/index.ts';
import { type CheckedMail, listDomains, listKeys, recordsOf } from '../../sending/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';
import { findMail, type WholeMail } from '../test-inbox/reads.ts';

export type CheckedTestEmail = { mail: WholeMail } & Pick<CheckedMail, 'html' | 'text' | 'checks'>;

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Returns one whole email of the test inbox, as a reader would see it, with the results of its checks. */
export async function showMail(
  { db, renderer }: { db: Tx; renderer: Renderer },
  { projectId, id, copy }: { projectId: number; id: string; copy: number },
): Promise<CheckedTestEmail> {
  const mail = await openMail(db, { projectId, id, copy });
  const { html, text, checks } = await checkEmail(
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
  if (!mail) throw mailNotFound(id, copy);
  return mail;
}

function mailNotFound(id: string, copy: number): Fault {
  const which = copy === 1 ? '' : `, copy ${copy}`;
  const message = `The test inbox of this project has no email ${JSON.stringify(id)}${which}. List its emails with: beckon test-inbox list`;
  return new Fault('not_found', { details: [{ message, field: 'message' }] });
}

type EmailToCheck = {
  projectId: number;
  /** The id of its message; for an email to the team, any other id. */
  id: string;
  raw: Uint8Array;
  kind: 'user' | 'team';
  at: number;
};

/** Checks an email, as it would be sent or as it arrived. Its signature is verified with the project's own keys. */
export async function checkEmail(
  { db: tx, renderer }: { db: Tx; renderer: Renderer },
  { projectId, id, raw, kind, at }: EmailToCheck,
): Promise<CheckedMail> {
  const records = await listDkimRecords(tx, projectId);
  const urls = await findUrls(tx, { projectId, emailId: id });
  return renderer.run('checkMail', { raw, kind, at, urls, records }, { projectId });
}

/** Returns the DKIM records of all keys of the project as they are published, including keys that wait or retire. */
async function listDkimRecords(tx: Tx, projectId: number): Promise<Map<string, string>> {
  const domains = await listDomains(tx, projectId);
  const ids = domains.map(({ id }) => id);
  const keys = Map.groupBy(await listKeys(tx, projectId, ids), ({ domainId }) => domainId);
  const published = domains.flatMap((domain) =>
    recordsOf(domain, keys.get(domain.id) ?? [], { mailDomain: null, spfInclude: null }),
  );
  const ofKeys = published.filter(({ kind }) => kind === 'dkim');
  return new Map(ofKeys.map(({ name, value }) => [name.toLowerCase(), value]));
}
