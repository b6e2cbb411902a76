import type { AuditListed, QueryOf } from '@beckon/contract/dashboard';
import { csvLine } from '@beckon/contract/files';
import { plainCell } from '../../../platform/text/csv.ts';
import { type AuditOf, countEntries, listEntries } from './store.ts';
import type { ListedEntry } from './entry.ts';
import { findOrganizationOf, listProjectsOf } from '../members/reads.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { badCursor, readPage, toPage } from '../dashboard-api/pages.ts';
import { routesFor } from '../dashboard-api/route.ts';
import { sendPieces } from '../dashboard-api/streams.ts';

const { route } = routesFor();

/** The audit log: of this project, or of its whole organization and team. */
export const auditRoutes = [
  route('GET /projects/:project/audit', {
    needs: 'admin',
    async handle({ db }, { projectId, query }) {
      const { of, names } = await scopeOf(db, projectId, query);
      const page = readPage(query, 1);
      const after = page.after === null ? null : readId(page.after[0] ?? '');
      const rows = await listEntries(db, { ...of, after, limit: page.rowsMax, offset: page.offset });
      const total = await countEntries(db, of, page.most);
      return toPage(rows, page, { show: (row) => toListed(row, names), cursorOf: ({ id }) => [id], total });
    },
  }),
  route('GET /projects/:project/audit.csv', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'audit.export',
    async handle({ db }, { projectId, query, reply }) {
      const { of, names } = await scopeOf(db, projectId, query);
      const file = { name: 'audit.csv', type: 'text/csv; charset=utf-8' };
      return sendPieces(reply, file, csvOf(db, of, names));
    },
  }),
];

type Names = ReadonlyMap<number, string>;

async function scopeOf(
  tx: Tx,
  projectId: number,
  { actor = '', action = '', scope = 'organization' }: QueryOf<'GET /projects/:project/audit.csv'>,
): Promise<{ of: AuditOf; names: Names }> {
  const organization = await findOrganizationOf(tx, projectId);
  const projects = organization ? await listProjectsOf(tx, organization.id) : [];
  const isAlone = scope === 'project' || !organization;
  return {
    of: {
      projectIds: isAlone ? [projectId] : projects.map(({ id }) => id),
      organizationId: scope === 'organization' && organization ? organization.id : null,
      actor: actor === '' ? null : actor,
      action: action === '' ? null : action,
    },
    names: new Map(projects.map(({ id, name }) => [id, name])),
  };
}

function toListed(entry: ListedEntry, names: Names): AuditListed {
  const { id, projectId, subject, before, after } = entry;
  return {
    id,
    at: entry.at.toISOString(),
    project: projectId === 0 ? null : { id: projectId, name: names.get(projectId) ?? String(projectId) },
    actor: entry.actor,
    actor_name: entry.actorName,
    token: entry.token,
    action: entry.action,
    subject,
    before,
    after,
    completed: entry.isCompleted,
  };
}

function readId(text: string): string {
  if (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)) return text;
  throw badCursor();
}

const COLUMNS = [
  'at',
  'project',
  'actor',
  'actor_name',
  'token',
  'action',
  'subject',
  'before',
  'after',
  'completed',
];
const PIECE = 1_000;

async function* csvOf(tx: Tx, of: AuditOf, names: Names): AsyncGenerator<string> {
  yield `${csvLine(COLUMNS)}\n`;
  for (let after: string | null = null; ;) {
    const rows: ListedEntry[] = await listEntries(tx, { ...of, after, limit: PIECE, offset: 0 });
    if (rows.length > 0) yield `${rows.map((row) => lineOf(toListed(row, names))).join('\n')}\n`;
    if (rows.length < PIECE) return;
    after = rows.at(-1)?.id ?? null;
  }
}

function lineOf(entry: AuditListed): string {
  const { at, project, actor, actor_name, token, action, subject, before, after, completed } = entry;
  const texts = [
    at,
    project?.name ?? '',
    actor,
    actor_name,
    token ?? '',
    action,
    subject ?? '',
    toText(before),
    toText(after),
  ];
  return csvLine([...texts.map(plainCell), String(completed)]);
}

function toText(value: unknown): string {
  return value === null || value === undefined ? '' : JSON.stringify(value);
}
