import { iso } from '../../src/platform/time/clock.ts';
import type { SuppressionReason } from '../../src/modules/sending/suppressions/suppression.ts';
import { listSuppressions, SUPPRESSIONS_PAGE_MAX } from '../../src/modules/outcomes/suppressions/reads.ts';
import type { SuppressionHasher } from '../../src/modules/sending/suppressions/hasher.ts';
import { suppress } from '../../src/modules/outcomes/suppressions/suppress.ts';
import {
  type ExportFormat,
  exportSuppressions,
} from '../../src/modules/outcomes/suppression-lists/export-suppressions.ts';
import { importSuppressions } from '../../src/modules/outcomes/suppression-lists/import-suppressions.ts';
import { testHasher } from './send-services.ts';
import type { Scenario } from '../scenario.ts';
import { isAboutAddress, isHashed } from '../../src/modules/outcomes/suppressions/entries.ts';

type Db = Parameters<typeof importSuppressions>[0] & Parameters<typeof suppress>[0];
type ListedRecipient = { email: string } | { user: string };

/** Suppresses, lists, imports and exports in the project of a scenario. */
export function suppressionLists(db: Db, scenario: () => Scenario) {
  async function add(
    recipient: ListedRecipient,
    reason: SuppressionReason = 'manual',
    until: string | null = null,
  ) {
    const { projectId } = scenario();
    const [kind, value] =
      'email' in recipient ? (['email', recipient.email] as const) : (['user', recipient.user] as const);
    const at = until === null ? null : Date.parse(until);
    await suppress(db, { projectId, kind, value, reason, until: at, actor: 'operator', hasher: testHasher });
  }

  async function list() {
    const rows = await listSuppressions(db, {
      projectId: scenario().projectId,
      limit: SUPPRESSIONS_PAGE_MAX,
    });
    return rows.map(({ kind, value, reason, until, createdAt, createdBy, fromErased = false }) => ({
      kind: isAboutAddress(kind) ? 'email' : 'user',
      value: isHashed(kind) ? null : value,
      hash: isHashed(kind) ? value : null,
      from_erased: fromErased,
      reason,
      until: until === null ? null : iso(until),
      created_at: iso(createdAt),
      created_by: createdBy,
    }));
  }

  type ImportTry = { reason?: SuppressionReason; dryRun?: boolean; hasher?: SuppressionHasher };
  async function importList(text: string | Uint8Array, options: ImportTry = {}) {
    async function* file(): AsyncGenerator<Buffer> {
      yield Buffer.from(text);
    }
    const { reason = 'manual', dryRun = false, hasher = testHasher } = options;
    const { projectId } = scenario();
    return importSuppressions(db, { projectId, file: file(), reason, dryRun, actor: 'operator', hasher });
  }

  async function exportList(format: ExportFormat = 'csv'): Promise<string> {
    const pieces: string[] = [];
    const { projectId } = scenario();
    for await (const piece of exportSuppressions(db, { projectId, format, hasher: testHasher }))
      pieces.push(`${piece}\n`);
    return pieces.join('');
  }
  return { add, list, importList, exportList };
}
