import type { IngestRequest, ListResponse, SortOf } from '@beckon/contract/dashboard';
import { listKeys } from '../keys/list-keys.ts';
import { listWarnings } from '../warnings/store.ts';
import type { Database } from '../../../platform/db/database.ts';
import { type CsvColumns, type ListQuery, routesFor, sendCsv, wholeList } from '../../workspace/index.ts';
import { countStream, readStream } from '../activity/read-stream.ts';
import { cursorOf, cursorOfTime, readRequestFilter, type RequestItem } from '../activity/stream.ts';

const { route } = routesFor();

const LIMIT = 50;

const COUNTED_MAX = 10_000;

export const requestRoutes = [
  route('GET /projects/:project/requests', {
    needs: 'viewer',
    handle: ({ db }, { projectId, query }) => requestPage(db, { projectId, ...query }),
  }),
  route('GET /projects/:project/requests.csv', {
    needs: 'viewer',
    isHeavy: true,
    slot: 'statement',
    handle: ({ db }, { projectId, query, reply }) =>
      sendCsv(reply, {
        name: 'requests.csv',
        columns: CSV_COLUMNS,
        load: (page) => requestPage(db, { projectId, ...query, ...page }),
      }),
  }),
  route('GET /projects/:project/warnings', {
    needs: 'viewer',
    async handle({ db }, { projectId }) {
      return wholeList(await listWarnings(db, projectId));
    },
  }),
];

type RequestsQuery = ListQuery & { projectId: number; filter?: string; sort?: SortOf<'requests'> };

async function requestPage(
  db: Database,
  { projectId, filter: text, sort = '-at', cursor, limit = LIMIT, isCounted = true }: RequestsQuery,
): Promise<ListResponse<IngestRequest>> {
  const filter = readRequestFilter(text ?? '');
  const from =
    sort === 'at' ? { after: cursor ?? cursorOfTime(new Date(0)) } : { after: null, before: cursor };
  const page = await readStream(db, { projectId, filter, ...from, limit });
  const { count, isAll } = isCounted
    ? await countStream(db, { projectId, filter, most: COUNTED_MAX })
    : { count: 0, isAll: false };
  const labels = new Map((await listKeys(db, projectId)).map(({ id, label }) => [id, label]));
  return {
    data: page.items.flatMap((item) => (item.type === 'request' ? [toRequest(item, labels)] : [])),
    meta: {
      pagination: { total: count, offset: 0, limit },
      cursor: page.more ? page.cursor : null,
      ...(isAll ? {} : { at_least: true as const }),
    },
  };
}

const CSV_COLUMNS: CsvColumns<IngestRequest> = {
  id: ({ id }) => id,
  at: ({ at }) => at,
  endpoint: ({ endpoint }) => endpoint,
  status: ({ status }) => status,
  code: ({ code }) => code,
  replayed: ({ replayed }) => replayed,
  requests: ({ requests }) => requests,
  accepted: ({ accepted }) => accepted,
  rejected: ({ rejected }) => rejected,
  bytes: ({ bytes }) => bytes,
  slowest_ms: ({ slowest_ms: ms }) => ms,
  key: ({ key }) => key && (key.label ?? key.id),
  request_id: ({ request_id: id }) => id,
};

/** The code that marks a replay; the answer itself is the first one. */
const REPLAYED = 'idempotent_replay';

function toRequest(item: RequestItem, labels: ReadonlyMap<string, string>): IngestRequest {
  const { type: _type, key_id: keyId, ...request } = item;
  const replayed = request.code === REPLAYED;
  return {
    ...request,
    place: cursorOf(item),
    code: replayed ? null : request.code,
    replayed,
    faults: request.faults ?? [],
    key: keyId === null ? null : { id: keyId, label: labels.get(keyId) ?? null },
  };
}
