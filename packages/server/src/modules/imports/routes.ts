import { FILTER_KEYS, type Import as Shown, type ListResponse } from '@beckon/contract/dashboard';
import { readFilter } from '../../platform/filter/parse.ts';
import { importFindingRoutes } from './finding-routes.ts';
import { type Import, PART_BYTES } from './import.ts';
import { countImportRows, listImportRows, listPartNumbers } from './reads.ts';
import {
  requestCheck,
  cancelImport,
  createImport,
  type FileImportInput,
  requireImport,
  replaceKey,
  mapImport,
  pauseImport,
  putPart,
  resumeImport,
  sampleImport,
  startImport,
  type StripeImportInput,
} from './run/manage-imports.ts';
import { showImport, showImports } from './run/show-import.ts';
import {
  badCursor,
  type CsvColumns,
  type DashboardRoute,
  isId,
  type KitDeps,
  type ListQuery,
  readPage,
  routesFor,
  sendCsv,
  toPage,
} from '../workspace/index.ts';
import type { Encrypter } from '../../platform/crypto/encrypt.ts';

type Deps = KitDeps & { encrypter: Encrypter };
const { route } = routesFor<Deps>();

/** Imports of records from a file or from Stripe. The worker does the work itself. */
export const importRoutes: DashboardRoute<Deps>[] = [
  ...importFindingRoutes,
  route('GET /projects/:project/imports', {
    needs: 'editor',
    scope: 'import',
    handle: (deps, { projectId, query }) => importPage(deps, { projectId, ...query }),
  }),
  route('GET /projects/:project/imports.csv', {
    needs: 'editor',
    scope: 'import',
    isHeavy: true,
    slot: 'statement',
    handle: (deps, { projectId, query, reply }) =>
      sendCsv(reply, {
        name: 'imports.csv',
        columns: CSV_COLUMNS,
        load: (page) => importPage(deps, { projectId, ...query, ...page }),
      }),
  }),
  route('POST /projects/:project/imports', {
    needs: 'editor',
    scope: 'import',
    audit: 'import.create',
    async handle(deps, { projectId, body, actor, note }) {
      const job = await createImport(deps, { projectId, createdBy: actor, ...sourceSettings(body) });
      note({ subject: job.name, after: { id: job.id, kind: job.kind, size_bytes: job.sizeBytes } });
      return importResponse(deps, job);
    },
  }),
  route('GET /projects/:project/imports/:import', {
    needs: 'editor',
    scope: 'import',
    async handle(deps, { projectId, params: { import: id } }) {
      return importResponse(deps, await requireImport(deps.db, { projectId, id }));
    },
  }),
  route('GET /projects/:project/imports/:import/parts', {
    needs: 'editor',
    scope: 'import',
    async handle({ db }, { projectId, params: { import: id } }) {
      const job = await requireImport(db, { projectId, id });
      return { data: { parts: await listPartNumbers(db, job) } };
    },
  }),
  route('PUT /projects/:project/imports/:import/parts/:part', {
    needs: 'editor',
    scope: 'import',
    audit: 'import.upload',
    isRaw: true,
    bodyMaxBytes: PART_BYTES,
    async handle(deps, { projectId, params, request, note }) {
      const part = /^\d{1,6}$/.test(params.part) ? Number(params.part) : Number.NaN;
      const bytes = request.body as Buffer;
      const job = await putPart(deps.db, { projectId, id: params.import }, { part, bytes });
      note({ subject: job.name, after: { part } });
      return importResponse(deps, job);
    },
  }),
  route('POST /projects/:project/imports/:import/sample', {
    needs: 'editor',
    scope: 'import',
    reads: true,
    async handle({ db }, { projectId, params: { import: id }, body }) {
      return { data: await sampleImport(db, { projectId, id }, body.mapping) };
    },
  }),
  route('PUT /projects/:project/imports/:import/mapping', {
    needs: 'editor',
    scope: 'import',
    audit: 'import.map',
    async handle(deps, { projectId, params: { import: id }, body, note }) {
      const job = await mapImport(deps.db, { projectId, id }, body.mapping);
      note({ subject: job.name, after: body.mapping });
      return importResponse(deps, job);
    },
  }),
  change('check', requestCheck),
  route('POST /projects/:project/imports/:import/start', {
    needs: 'editor',
    scope: 'import',
    audit: 'import.start',
    async handle(deps, { projectId, params: { import: id }, body, note }) {
      const { live_events: liveEvents = null } = body;
      const job = await startImport(deps.db, { projectId, id }, { liveEvents });
      note({ subject: job.name, after: { live_events: liveEvents } });
      return importResponse(deps, job);
    },
  }),
  change('pause', pauseImport),
  change('resume', resumeImport),
  change('cancel', cancelImport),
  route('POST /projects/:project/imports/:import/key', {
    needs: 'editor',
    scope: 'import',
    audit: 'import.set_key',
    async handle(deps, { projectId, params: { import: id }, body, note }) {
      const job = await replaceKey(deps, { projectId, id }, body.key);
      note({ subject: job.name });
      return importResponse(deps, job);
    },
  }),
];

type ImportsQuery = ListQuery & { projectId: number; filter?: string };

async function importPage(
  deps: Deps,
  { projectId, filter: text, ...query }: ImportsQuery,
): Promise<ListResponse<Shown>> {
  const { db } = deps;
  const filter = readFilter(text, FILTER_KEYS.imports);
  const page = readPage(query, 1);
  const [after = null] = page.after ?? [];
  const { offset, rowsMax: limit, most } = page;
  const rows = await listImportRows(db, { projectId, filter, after: readId(after), offset, limit });
  const nameOf = await namesOf(deps, rows);
  const total = await countImportRows(db, { projectId, filter, most });
  const views = await showImports(db, rows, nameOf);
  return toPage(views, page, { show: (view: Shown) => view, cursorOf: ({ id }) => [id], total });
}

const CSV_COLUMNS: CsvColumns<Shown> = {
  id: ({ id }) => id,
  created_at: ({ created_at: at }) => at,
  kind: ({ kind }) => kind,
  name: ({ name }) => name,
  state: ({ state }) => state,
  problem: ({ problem }) => problem,
  live_events: ({ is_live: isLive }) => isLive,
  rows: ({ progress, check }) => (progress.rows > 0 ? progress.rows : (check?.rows ?? 0)),
  users: ({ progress }) => progress.users.accepted,
  events: ({ progress }) => progress.events.accepted,
  rejected: ({ progress, check }) => (progress.rows > 0 ? progress.rejected : (check?.rejected ?? 0)),
  created_by: ({ created_by: name }) => name,
  ended_at: ({ ended_at: at }) => at,
};

/** Handles an action without parameters. */
function change(
  move: 'check' | 'pause' | 'resume' | 'cancel',
  act: (db: Deps['db'], ref: { projectId: number; id: string }) => Promise<Import>,
): DashboardRoute<Deps> {
  return route(`POST /projects/:project/imports/:import/${move}`, {
    needs: 'editor',
    scope: 'import',
    audit: `import.${move}`,
    async handle(deps, { projectId, params: { import: id }, note }) {
      const job = await act(deps.db, { projectId, id });
      note({ subject: job.name, after: { state: job.state } });
      return importResponse(deps, job);
    },
  });
}

type Body =
  | { kind: 'users' | 'events'; name: string; size_bytes: number; file_modified_at?: number }
  | { kind: 'stripe'; key: string; unmatched_as_customers?: boolean };

type SourceSettings = FileImportInput | StripeImportInput;

function sourceSettings(body: Body): SourceSettings {
  if (body.kind === 'stripe')
    return { kind: body.kind, key: body.key, unmatchedAsCustomers: body.unmatched_as_customers ?? false };
  const { kind, name, size_bytes: sizeBytes, file_modified_at: fileModifiedAt = null } = body;
  return { kind, name, sizeBytes, fileModifiedAt };
}

async function importResponse(deps: Deps, job: Import): Promise<{ data: Shown }> {
  return { data: await showImport(deps.db, job, await namesOf(deps, [job])) };
}

async function namesOf({ access }: Deps, imports: Import[]): Promise<(actor: string) => string | null> {
  const names = await access.namesOf([...new Set(imports.map(({ createdBy }) => createdBy))]);
  return (actor) => names.get(actor) ?? null;
}

function readId(after: string | null): string | null {
  if (after === null || isId(after)) return after;
  throw badCursor();
}
