import { FILTER_KEYS, type ListResponse, type TopicUnsubscribeListed } from '@beckon/contract/dashboard';
import { readFilter } from '../../../platform/filter/parse.ts';
import {
  type DashboardRoute,
  type KitDeps,
  type ListQuery,
  readPage,
  routesFor,
  sendCsv,
  toPage,
  zoneOfProject,
} from '../../workspace/index.ts';
import { listedRefusal, readKind, TOPIC_CSV_COLUMNS } from './suppression-view.ts';
import { countTopicUnsubscribes, listTopicUnsubscribes, type TopicUnsubscribe } from './topics.ts';

const { route } = routesFor();

/** The list of topics that users unsubscribed from. */
export const topicRoutes: DashboardRoute[] = [
  route('GET /projects/:project/suppressions/topics', {
    needs: 'viewer',
    handle: ({ db }, { projectId, query }) => topicPage(db, { projectId, ...query }),
  }),
  route('GET /projects/:project/suppressions/topics.csv', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'suppressions.export_topics',
    handle: ({ db }, { projectId, query, reply }) =>
      sendCsv(reply, {
        name: 'unsubscribed-topics.csv',
        columns: TOPIC_CSV_COLUMNS,
        load: (page) => topicPage(db, { projectId, ...query, ...page }),
      }),
  }),
];

type TopicsQuery = ListQuery & { projectId: number; filter?: string };

async function topicPage(
  db: KitDeps['db'],
  { projectId, filter: text, ...query }: TopicsQuery,
): Promise<ListResponse<TopicUnsubscribeListed>> {
  const filter = readFilter(text, FILTER_KEYS.topics, await zoneOfProject(db, projectId));
  const page = readPage(query, 3);
  const [kind = '', value = '', topic = ''] = page.after ?? [];
  const after = page.after && { kind: readKind(kind), value, topic };
  const { offset, rowsMax: limit, most } = page;
  const rows = await listTopicUnsubscribes(db, { projectId, filter, after, offset, limit });
  return toPage(rows, page, {
    show: listedRefusal,
    cursorOf: (row: TopicUnsubscribe) => [row.kind, row.value, row.topic],
    total: await countTopicUnsubscribes(db, { projectId, filter, most }),
  });
}
