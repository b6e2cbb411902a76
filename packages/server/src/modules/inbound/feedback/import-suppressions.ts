import type { SuppressionImport } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';
import { wireAddress } from '../../../platform/mail/outgoing-email.ts';
import type { RelayAdapter, RelayContext } from '../../../platform/relays/adapter.ts';
import type { Database } from '../../../platform/db/database.ts';
import { importSuppressions } from '../../outcomes/index.ts';
import type { SuppressionHasher } from '../../sending/index.ts';

/** At a thousand addresses a page, more than most lists have. A longer list is imported as a file. */
const PAGES_MAX = 200;

type ImportDeps = { db: Database; hasher: SuppressionHasher; actor: string };

/** Imports the suppression list of a provider into a project. Importing it again adds only new addresses. */
export function importProviderSuppressions(
  { db, hasher, actor }: ImportDeps,
  { projectId, adapter, context }: { projectId: number; adapter: RelayAdapter; context: RelayContext },
): Promise<SuppressionImport> {
  const file = pagesOf(adapter, context);
  return importSuppressions(db, { projectId, file, reason: 'hard_bounce', dryRun: false, actor, hasher });
}

/** Returns the list in the form of a file: one address and its reason a line. */
async function* pagesOf(
  { suppressions, title }: RelayAdapter,
  context: RelayContext,
): AsyncGenerator<Uint8Array, void, void> {
  if (!suppressions) throw conflict(`${title} does not list its suppressions. Export them there`);
  yield Buffer.from('email,reason\n');
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const found = await suppressions(cursor, context);
    if (!found.ok) throw conflict(found.message);
    // An address that needs quotes is no address that Beckon sends to.
    const lines = found.suppressions.flatMap(({ address, reason }) => {
      const wire = wireAddress(address);
      return wire === null ? [] : [`${wire},${reason}\n`];
    });
    yield Buffer.from(lines.join(''));
    if (found.cursor === null) return;
    ({ cursor } = found);
  }
}

function conflict(message: string): Fault {
  return new Fault('conflict', { details: [{ message, field: 'relay' }] });
}
