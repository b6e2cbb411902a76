import type { IngestRequest } from '@beckon/contract/dashboard';
import { listKeys } from '../keys/list-keys.ts';
import { listWarnings } from '../warnings/store.ts';
import { routesFor, wholeList } from '../../workspace/index.ts';
import { countStream, readStream } from '../activity/read-stream.ts';
import { cursorOf, readRequestFilter, type RequestItem } from '../activity/stream.ts';

const { route } = routesFor();

const LIMIT = 50;

const COUNTED_MAX = 10_000;

export const requestRoutes = [
  route('GET /projects/:project/requests', {
    needs: 'viewer',
    async handle({ db }, { projectId, query }) {
      const filter = readRequestFilter(query.filter ?? '');
      const limit = query.limit ?? LIMIT;
      const page = await readStream(db, { projectId, filter, after: null, before: query.cursor, limit });
      const { count, isAll } = await countStream(db, { projectId, filter, most: COUNTED_MAX });
      const labels = new Map((await listKeys(db, projectId)).map(({ id, label }) => [id, label]));
      return {
        data: page.items.flatMap((item) => (item.type === 'request' ? [toRequest(item, labels)] : [])),
        meta: {
          pagination: { total: count, offset: 0, limit },
          cursor: page.more ? page.cursor : null,
          ...(isAll ? {} : { at_least: true as const }),
        },
      };
    },
  }),
  route('GET /projects/:project/warnings', {
    needs: 'viewer',
    async handle({ db }, { projectId }) {
      return wholeList(await listWarnings(db, projectId));
    },
  }),
];

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
