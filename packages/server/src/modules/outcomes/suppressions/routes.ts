import {
  FILTER_KEYS,
  type ListResponse,
  type SortOf,
  type SuppressionImport,
  type SuppressionListed,
} from '@beckon/contract/dashboard';
import { normaliseAddress } from '../../../platform/net/address.ts';
import { iso } from '../../../platform/time/clock.ts';
import { Fault } from '../../../platform/fault.ts';
import { readFilter } from '../../../platform/filter/parse.ts';
import { parseInstant } from '../../../platform/time/time-text.ts';
import type { ClearTarget, SuppressionReason, SuppressionHasher } from '../../sending/index.ts';
import { exportSuppressions } from '../suppression-lists/export-suppressions.ts';
import {
  findLastImport,
  IMPORT_ACTION,
  importSuppressions,
} from '../suppression-lists/import-suppressions.ts';
import { findTypedEntry, type TypedEntry } from './hashed-suppressions.ts';
import { liftMany } from './lift-many.ts';
import { liftSuppression, suppress } from './suppress.ts';
import {
  addressForAudit,
  badCursor,
  type ListQuery,
  readPage,
  sendCsv,
  toPage,
  type DashboardRoute,
  routesFor,
  sendPieces,
  type KitDeps,
  zoneOfProject,
} from '../../workspace/index.ts';
import {
  CSV_COLUMNS,
  readKind,
  invalid,
  readTarget,
  listedKind,
  listedSuppression,
} from './suppression-view.ts';
import { countSuppressions, searchSuppressions } from './reads.ts';
import { isHashed, type StoredSuppression } from './entries.ts';

type Deps = KitDeps & { hasher: SuppressionHasher };
const { route } = routesFor<Deps>();

const LIST_MAX_BYTES = 6 * 1024 * 1024;

export const suppressionRoutes: DashboardRoute<Deps>[] = [
  route('GET /projects/:project/suppressions', {
    needs: 'viewer',
    handle: (deps, { projectId, query }) => suppressionPage(deps, { projectId, ...query }),
  }),
  route('GET /projects/:project/suppressions.csv', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'suppressions.export',
    handle: (deps, { projectId, query, reply }) =>
      sendCsv(reply, {
        name: 'suppressions.csv',
        columns: CSV_COLUMNS,
        load: (page) => suppressionPage(deps, { projectId, ...query, ...page }),
      }),
  }),
  route('POST /projects/:project/suppressions', {
    needs: 'admin',
    audit: 'suppression.add',
    async handle({ db, access, hasher }, { projectId, body, actor, note }) {
      const { reason = 'manual', until: untilText } = body;
      const target = readTarget(projectId, body);
      const until = untilText === undefined ? null : readUntil(untilText, db.clock.now());
      // The recipient's page shows a snooze by its end, and could not end one without an end.
      if (reason === 'snoozed' && until === null) throw invalid('A snooze needs an end. Set until', 'until');
      const {
        isAdded: added,
        drafts,
        runs,
      } = await suppress(db, { ...target, reason, until, actor, hasher });
      note({
        subject: auditSubject(target),
        after: { reason, until: body.until ?? null, added, drafts, runs },
      });
      const suppression = await findListed({ db, access, hasher }, target);
      return { data: { suppression, added, drafts, runs } };
    },
  }),
  route('POST /projects/:project/suppressions/remove', {
    needs: 'admin',
    audit: 'suppression.remove',
    async handle({ db, hasher }, { projectId, body, actor, note }) {
      const target = readTarget(projectId, body);
      if (body.hash !== undefined && hasher.hash(target).value !== body.hash)
        throw invalid('This entry belongs to another user. Enter its address or user ID', 'confirm');
      const typed = await findTypedEntry(db, hasher, target);
      const { suppression: found, targets } = typed;
      if (!found) throw notThere(target, typed);
      if (!isConfirmed(target, body.confirm))
        throw invalid(`Enter ${target.value} again to confirm`, 'confirm');
      if (!(await liftSuppression(db, targets, actor))) throw notThere(target, typed);
      const { reason, createdAt, createdBy } = found;
      const before = { reason, created_at: iso(createdAt), created_by: createdBy };
      const subject = isHashed(found.kind) ? 'an erased user' : auditSubject(target);
      note({ subject, before, after: { reason: body.reason } });
      return { data: { kind: listedKind(target.kind), value: target.value, removed: true as const } };
    },
  }),
  route('POST /projects/:project/suppressions/remove-many', {
    needs: 'admin',
    audit: 'suppression.remove_many',
    async handle({ db }, { projectId, body, actor, note }) {
      const { entries, confirm, reason } = body;
      if (confirm !== entries.length)
        throw invalid(`Enter ${entries.length}, the number of entries, to confirm`, 'confirm');
      const result = await liftMany(db, { projectId, entries, actor });
      const refused = result.refused.reduce((sum, { rows }) => sum + rows, 0);
      // Without the addresses: the audit log outlives users who are erased.
      note({
        subject: `${result.removed} suppressions`,
        after: { removed: result.removed, refused, reason },
      });
      return { data: result };
    },
  }),
  route('POST /projects/:project/suppressions/preview-import', {
    needs: 'admin',
    isHeavy: true,
    audit: 'suppression.preview_import',
    bodyMaxBytes: LIST_MAX_BYTES,
    async handle({ db, hasher }, { projectId, body, actor, note }) {
      const data = await importList(db, { projectId, ...body, dryRun: true, actor, hasher });
      note({ after: countsOf(data) });
      return { data };
    },
  }),
  route('POST /projects/:project/suppressions/import', {
    needs: 'admin',
    isHeavy: true,
    audit: IMPORT_ACTION,
    bodyMaxBytes: LIST_MAX_BYTES,
    async handle({ db, hasher }, { projectId, body, actor, note }) {
      const data = await importList(db, { projectId, ...body, dryRun: false, actor, hasher });
      note({ after: countsOf(data) });
      return { data };
    },
  }),
  route('GET /projects/:project/suppressions/export', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'suppressions.export',
    handle({ db, hasher }, { projectId, query: { format = 'csv' }, reply }) {
      const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8';
      const file = { name: `suppressions.${format}`, type };
      const list = exportSuppressions(db, { projectId, format, hasher });
      return sendPieces(reply, file, withLineEnds(list));
    },
  }),
  route('GET /projects/:project/suppressions/state', {
    needs: 'viewer',
    async handle({ db }, { projectId }) {
      const last = await findLastImport(db, projectId);
      return {
        data: { imported_at: last?.at.toISOString() ?? null, imported_by_name: last?.byName ?? null },
      };
    },
  }),
];

function isConfirmed({ kind, value }: ClearTarget, confirm: string): boolean {
  const typed = confirm.trim();
  return kind === 'email' ? normaliseAddress(typed) === value : typed.toLowerCase() === value.toLowerCase();
}

type SuppressionsQuery = ListQuery & { projectId: number; filter?: string; sort?: SortOf<'suppressions'> };

async function suppressionPage(
  { db, access }: Pick<Deps, 'db' | 'access'>,
  { projectId, filter: text, sort = 'value', ...query }: SuppressionsQuery,
): Promise<ListResponse<SuppressionListed>> {
  const filter = readFilter(text, FILTER_KEYS.suppressions, await zoneOfProject(db, projectId));
  const page = readPage(query, 3);
  const after = page.after && readPosition(page.after);
  const search = { projectId, filter, sort, after, offset: page.offset, limit: page.rowsMax };
  const rows = await searchSuppressions(db, search);
  const total = await countSuppressions(db, { projectId, filter, most: page.most });
  const names = await access.namesOf([...new Set(rows.map(({ createdBy }) => createdBy))]);
  const now = db.clock.now();
  return toPage(rows, page, {
    show: (row: StoredSuppression) => listedSuppression(row, names, now),
    cursorOf: (row: StoredSuppression) => [row.kind, row.value, String(row.createdAt)],
    total,
  });
}

function readPosition([kind = '', value = '', at = '']: string[]): Pick<
  StoredSuppression,
  'kind' | 'value' | 'createdAt'
> {
  if (!/^\d{1,15}$/.test(at)) throw badCursor();
  return { kind: readKind(kind), value, createdAt: Number(at) };
}

function readUntil(text: string, now: number): number {
  const until = parseInstant(text);
  if (until > now) return until;
  throw invalid('until must be a time in the future, such as 2027-03-01T00:00:00Z', 'until');
}

async function findListed(
  { db, access, hasher }: Pick<Deps, 'db' | 'access' | 'hasher'>,
  target: ClearTarget,
): Promise<SuppressionListed> {
  const typed = await findTypedEntry(db, hasher, target);
  const { suppression: found } = typed;
  if (!found) throw notThere(target, typed);
  return listedSuppression(found, await access.namesOf([found.createdBy]), db.clock.now());
}

/** Does not name the user: the audit log is kept after they are erased. */
function auditSubject({ kind, value }: ClearTarget): string {
  return kind === 'email' ? addressForAudit(value) : 'a user';
}

function notThere(target: ClearTarget, { lift }: TypedEntry): Fault {
  const before = lift ? `. The suppression was removed at ${iso(lift.liftedAt)}` : '';
  const message = `${target.value} is not suppressed${before}`;
  return new Fault('not_found', { details: [{ message, field: listedKind(target.kind) }] });
}

type ListImport = {
  projectId: number;
  list: string;
  reason?: SuppressionReason;
  dryRun: boolean;
  actor: string;
  hasher: SuppressionHasher;
};

function importList(
  db: Deps['db'],
  { list, reason = 'manual', ...rest }: ListImport,
): Promise<SuppressionImport> {
  return importSuppressions(db, { ...rest, reason, file: piecesOf(list) });
}

const PIECE_BYTES = 64 * 1024;

/** Cuts a list into pieces, as if it were read from a file: rows are created one piece at a time. */
function piecesOf(list: string): AsyncIterable<Uint8Array> {
  const bytes = Buffer.from(list.replaceAll('\0', ''));
  const count = Math.ceil(bytes.length / PIECE_BYTES);
  return ReadableStream.from(
    Array.from({ length: count }, (_, n) => bytes.subarray(n * PIECE_BYTES, (n + 1) * PIECE_BYTES)),
  );
}

function countsOf({ problems: _problems, ...counts }: SuppressionImport): object {
  return counts;
}

async function* withLineEnds(pieces: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  for await (const piece of pieces) yield `${piece}\n`;
}
