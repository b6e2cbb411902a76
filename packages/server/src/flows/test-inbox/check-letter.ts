import { listDomains, listKeys, recordsOf } from '../../features/domains/index.ts';
import type { CheckedMail } from '../../features/test-inbox/index.ts';
import { findUrls } from '../../features/outcomes/index.ts';
import type { Tx } from '../../io/db/index.ts';

import type { Renderer } from '../rendering/index.ts';

export type LetterToCheck = {
  projectId: number;
  /** Of its message; of a letter to the team any other. */
  id: string;
  raw: Uint8Array;
  kind: 'user' | 'team';
  at: number;
};

/** What is wrong with a letter, as it would leave or as it arrived; its signature is held against the project's own keys. */
export async function checkLetter(
  { db: tx, renderer }: { db: Tx; renderer: Renderer },
  { projectId, id, raw, kind, at }: LetterToCheck,
): Promise<CheckedMail> {
  const records = await listDkimRecords(tx, projectId);
  const urls = await findUrls(tx, { projectId, messageId: id });
  return renderer.run('checkMail', { raw, kind, at, urls, records }, { projectId });
}

/** Of all keys of the project, those that wait and those that retire too, as they are published. */
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
