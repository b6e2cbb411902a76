import {
  allows,
  type DeadLetter,
  FILTER_KEYS,
  type ListResponse,
  type Role,
  type SystemState,
  type SystemStorage,
} from '@beckon/contract/dashboard';
import { discardDead, retryDead, listDead, listWaiting } from '../ingest/index.ts';
import { showSystem, supportBundle } from './system.ts';
import { matches, WORDS, wordsText } from '../../platform/filter/filter.ts';
import { readFilter } from '../../platform/filter/parse.ts';
import { storageFacts } from '../../platform/db/facts.ts';
import {
  type CsvColumns,
  type ListQuery,
  pageOfAll,
  routesFor,
  sendCsv,
  sendPieces,
  wholeList,
  type KitDeps,
  type Installation,
  type Release,
} from '../workspace/index.ts';
import type { MailSettings } from '../sending/index.ts';

type Deps = KitDeps & { installation: Installation; mail: MailSettings; release: Release; wake: () => void };
const { route } = routesFor<Deps>();

export const systemRoutes = [
  route('GET /queue', {
    needs: 'signed_in',
    scope: 'read',
    isHeavy: true,
    async handle({ db, access }, { member }) {
      const projectIds = [...(await access.rolesOf(member.id)).keys()];
      return wholeList(await listWaiting(db, projectIds));
    },
  }),
  route('GET /projects/:project/system', {
    needs: 'viewer',
    isHeavy: true,
    handle: async (deps, { projectId, role }) => ({ data: await systemState(deps, projectId, role) }),
  }),
  route('GET /projects/:project/dead-letters', {
    needs: 'viewer',
    handle: ({ db }, { projectId, query }) => deadLetterPage(db, { projectId, ...query }),
  }),
  route('GET /projects/:project/dead-letters.csv', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'dead_letters.export',
    handle: ({ db }, { projectId, query, reply }) =>
      sendCsv(reply, {
        name: 'dead-letters.csv',
        columns: CSV_COLUMNS,
        load: (page) => deadLetterPage(db, { projectId, ...query, ...page }),
      }),
  }),
  route('POST /projects/:project/dead-letters/retry', {
    needs: 'admin',
    audit: 'dead_letter.retry',
    async handle({ db, wake }, { projectId, body: { seqs }, note }) {
      const { retried } = await retryDead(db, projectId, seqs ?? null);
      wake();
      note({ subject: seqs ? seqs.join(', ') : 'all', after: { retried } });
      return { data: { retried } };
    },
  }),
  route('POST /projects/:project/dead-letters/discard', {
    needs: 'admin',
    audit: 'dead_letter.discard',
    async handle({ db }, { projectId, body: { seqs, reason }, note }) {
      const { discarded } = await discardDead(db, { projectId, seqs });
      note({ subject: seqs.join(', '), after: { discarded, reason } });
      return { data: { discarded } };
    },
  }),
  route('GET /projects/:project/support-bundle', {
    needs: 'admin',
    isHeavy: true,
    async handle({ db, mail, release, installation }, { projectId, reply }) {
      const { relay, hasModel } = installation;
      const installed = { release, transport: relay === null ? 'test_inbox' : 'relay', has_model: hasModel };
      const bundle = { installed, ...(await supportBundle(db, { projectId, mail })) };
      const file = { name: `beckon-support-${projectId}.json`, type: 'application/json; charset=utf-8' };
      return sendPieces(reply, file, [JSON.stringify(bundle, null, 2)]);
    },
  }),
];

type DeadLettersQuery = ListQuery & { projectId: number; filter?: string };

async function deadLetterPage(
  db: Deps['db'],
  { projectId, filter: text, ...page }: DeadLettersQuery,
): Promise<ListResponse<DeadLetter>> {
  const filter = readFilter(text, FILTER_KEYS.dead_letters);
  const rows = (await listDead(db, projectId)).filter(({ kind, priority, reason, record }) =>
    matches(filter, { kind, priority, reason, [WORDS]: wordsText([reason, JSON.stringify(record)]) }),
  );
  return pageOfAll(rows, page);
}

const CSV_COLUMNS: CsvColumns<DeadLetter> = {
  number: ({ seq }) => seq,
  kind: ({ kind }) => kind,
  priority: ({ priority }) => priority,
  reason: ({ reason }) => reason,
  accepted_at: ({ accepted_at: at }) => at,
  dead_lettered_at: ({ dead_lettered_at: at }) => at,
  record: ({ record }) => JSON.stringify(record),
};

async function systemState({ db, release }: Deps, projectId: number, role: Role): Promise<SystemState> {
  const { clockOffsetMs, ...shown } = await showSystem(db, projectId);
  const { version, node } = release;
  // Sizes and row counts are of all organizations. A personal token needs the scope `admin`.
  const storage = allows(role, 'admin') ? await readStorage(db) : null;
  return { ...shown, version, node, clock_offset_ms: clockOffsetMs, storage };
}

async function readStorage(db: Deps['db']): Promise<SystemStorage> {
  const { bytes, tables } = await storageFacts(db);
  return { database_bytes: bytes, tables };
}
