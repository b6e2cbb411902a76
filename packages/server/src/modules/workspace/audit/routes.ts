import { type AuditListed, FILTER_KEYS, type ListResponse, type QueryOf } from '@beckon/contract/dashboard';
import type { Database } from '../../../platform/db/database.ts';
import { readFilter } from '../../../platform/filter/parse.ts';
import { type CsvColumns, sendCsv } from '../dashboard-api/csv.ts';
import { type AuditOf, countEntries, listEntries } from './store.ts';
import type { ListedEntry } from './entry.ts';
import { findOrganizationOf, listProjectsOf } from '../members/reads.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { badCursor, type ListQuery, readPage, toPage } from '../dashboard-api/pages.ts';
import { routesFor } from '../dashboard-api/route.ts';
import { zoneOfProject } from '../projects/project-settings.ts';

const { route } = routesFor();

/** The audit log: of this project, or of its whole organization and team. */
export const auditRoutes = [
  route('GET /projects/:project/audit', {
    needs: 'admin',
    handle: ({ db }, { projectId, query }) => auditPage(db, projectId, query),
  }),
  route('GET /projects/:project/audit.csv', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'audit.export',
    handle: ({ db }, { projectId, query, reply }) =>
      sendCsv(reply, {
        name: 'audit.csv',
        columns: CSV_COLUMNS,
        load: (page) => auditPage(db, projectId, { ...query, ...page }),
      }),
  }),
];

type AuditQuery = QueryOf<'GET /projects/:project/audit.csv'>;

async function auditPage(
  db: Database,
  projectId: number,
  query: AuditQuery & ListQuery,
): Promise<ListResponse<AuditListed>> {
  const { of, names } = await scopeOf(db, projectId, query);
  const page = readPage(query, 1);
  const after = page.after === null ? null : readId(page.after[0] ?? '');
  const rows = await listEntries(db, { ...of, after, limit: page.rowsMax, offset: page.offset });
  const total = await countEntries(db, of, page.most);
  return toPage(rows, page, { show: (row) => toListed(row, names), cursorOf: ({ id }) => [id], total });
}

type Names = ReadonlyMap<number, string>;

async function scopeOf(
  tx: Tx,
  projectId: number,
  { actor = '', action = '', scope = 'organization', filter }: AuditQuery,
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
      filter: readFilter(filter, FILTER_KEYS.audit, await zoneOfProject(tx, projectId)),
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

const CSV_COLUMNS: CsvColumns<AuditListed> = {
  at: ({ at }) => at,
  project: ({ project }) => project?.name ?? '',
  actor: ({ actor }) => actor,
  actor_name: ({ actor_name: name }) => name,
  token: ({ token }) => token,
  action: ({ action }) => action,
  subject: ({ subject }) => subject,
  before: ({ before }) => toText(before),
  after: ({ after }) => toText(after),
  completed: ({ completed }) => completed,
};

function toText(value: unknown): string {
  return value === null || value === undefined ? '' : JSON.stringify(value);
}
