import { listDomains, listKeys, recordsOf, type CheckedMail } from '../../sending/index.ts';
import { findUrls } from '../../inbound/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';

import type { Renderer } from '../../rendering/index.ts';

export type LetterToCheck = {
  projectId: number;
  /** The id of its message; for an email to the team, any other id. */
  id: string;
  raw: Uint8Array;
  kind: 'user' | 'team';
  at: number;
};

/** Checks an email, as it would be sent or as it arrived. Its signature is verified with the project's own keys. */
export async function checkLetter(
  { db: tx, renderer }: { db: Tx; renderer: Renderer },
  { projectId, id, raw, kind, at }: LetterToCheck,
): Promise<CheckedMail> {
  const records = await listDkimRecords(tx, projectId);
  const urls = await findUrls(tx, { projectId, messageId: id });
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
