import { type ApiKey, FILTER_KEYS, type ListResponse } from '@beckon/contract/dashboard';
import { matches, WORDS, wordsText } from '../../../platform/filter/filter.ts';
import { readFilter } from '../../../platform/filter/parse.ts';
import { Fault } from '../../../platform/fault.ts';
import { listKeys, listKeyTraffic } from './list-keys.ts';
import { minimumMissed } from './key-use.ts';
import {
  type CsvColumns,
  findPair,
  type KitDeps,
  type ListQuery,
  pageOfAll,
  routesFor,
  sendCsv,
  zoneOfProject,
} from '../../workspace/index.ts';
import { createKey, revokeKey } from './change-key.ts';

type Deps = KitDeps & { minimumVersions: ReadonlyMap<string, string> };
const { route } = routesFor<Deps>();

export const keyRoutes = [
  route('GET /projects/:project/keys', {
    needs: 'admin',
    handle: (deps, { projectId, query }) => keyPage(deps, { projectId, ...query }),
  }),
  route('GET /projects/:project/keys.csv', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'keys.export',
    handle: (deps, { projectId, query, reply }) =>
      sendCsv(reply, {
        name: 'api-keys.csv',
        columns: CSV_COLUMNS,
        load: (page) => keyPage(deps, { projectId, ...query, ...page }),
      }),
  }),
  route('POST /projects/:project/keys', {
    needs: 'admin',
    audit: 'key.create',
    async handle(deps, { projectId, actor, body, note }) {
      const { db, pepper } = deps;
      const env = body.env === undefined ? {} : { env: body.env };
      const input = { projectId, label: body.label, ...env, createdBy: actor };
      const { id, secret } = await createKey({ db, pepper: pepper.current }, input);
      const apiKey = await showKey(deps, { projectId, id });
      note({ subject: apiKey.label, after: { id, display: apiKey.display } });
      return { data: { ...apiKey, secret } };
    },
  }),
  route('POST /projects/:project/keys/:key/revoke', {
    needs: 'admin',
    audit: 'key.revoke',
    async handle(deps, { projectId, params: { key: id }, body, note }) {
      const { label, display, env, revoked_at: before } = await showKey(deps, { projectId, id });
      if (body.label !== label) throw notTyped(label);
      await revokeKey(deps.db, { id, projectId: await keyProject(deps.db, projectId, env) });
      const apiKey = await showKey(deps, { projectId, id });
      note({
        subject: label,
        before: { display, revoked_at: before },
        after: { display, revoked_at: apiKey.revoked_at },
      });
      return { data: apiKey };
    },
  }),
];

type KeysQuery = ListQuery & { projectId: number; filter?: string };

async function keyPage(
  deps: Deps,
  { projectId, filter: text, ...page }: KeysQuery,
): Promise<ListResponse<ApiKey>> {
  const filter = readFilter(text, FILTER_KEYS.keys, await zoneOfProject(deps.db, projectId));
  const rows = (await showKeys(deps, projectId)).filter((key) => {
    const { label, env, client, display, created_by: by, created_at: created, last_used_at: used } = key;
    return matches(filter, {
      label,
      env,
      state: key.revoked_at === null ? 'active' : 'revoked',
      client: client?.name,
      by: by ?? undefined,
      created,
      used: used ?? undefined,
      [WORDS]: wordsText([label, display, by, client && `${client.name} ${client.version}`]),
    });
  });
  return pageOfAll(rows, page);
}

const CSV_COLUMNS: CsvColumns<ApiKey> = {
  id: ({ id }) => id,
  label: ({ label }) => label,
  env: ({ env }) => env,
  key: ({ display }) => display,
  state: ({ revoked_at: at }) => (at === null ? 'active' : 'revoked'),
  created_at: ({ created_at: at }) => at,
  created_by: ({ created_by: by }) => by,
  last_used_at: ({ last_used_at: at }) => at,
  client: ({ client }) => client && `${client.name} ${client.version}`,
  requests_14_days: ({ traffic }) => traffic.reduce((sum, { requests }) => sum + requests, 0),
  revoked_at: ({ revoked_at: at }) => at,
};

/** Returns the keys of a project, and after them those of its sandbox. */
async function showKeys(deps: Deps, projectId: number): Promise<ApiKey[]> {
  const { sandboxId } = await findPair(deps.db, projectId);
  const keys = await keysOf(deps, projectId);
  return sandboxId === null ? keys : [...keys, ...(await keysOf(deps, sandboxId))];
}

/** Returns the project of a key: a test key belongs to the sandbox, wherever it is shown. */
async function keyProject(db: Deps['db'], projectId: number, env: ApiKey['env']): Promise<number> {
  const { livemode, sandboxId } = await findPair(db, projectId);
  return livemode && env === 'test' && sandboxId !== null ? sandboxId : projectId;
}

async function keysOf({ db, access, minimumVersions }: Deps, projectId: number): Promise<ApiKey[]> {
  const keys = await listKeys(db, projectId);
  const trafficOf = await listKeyTraffic(db, { projectId, now: db.clock.now() });
  const names = await access.namesOf(keys.flatMap((key) => key.created_by ?? []));
  return keys.map((key) => ({
    ...key,
    created_by: key.created_by === null ? null : (names.get(key.created_by) ?? key.created_by),
    minimum_version: (key.client && minimumMissed(key.client, minimumVersions)) ?? null,
    traffic: trafficOf(key.id),
  }));
}

async function showKey(deps: Deps, { projectId, id }: { projectId: number; id: string }): Promise<ApiKey> {
  const found = (await showKeys(deps, projectId)).find((key) => key.id === id);
  if (found) return found;
  const message = 'This project has no key with this ID';
  throw new Fault('not_found', { details: [{ message, field: 'key' }] });
}

function notTyped(label: string): Fault {
  const message = `Enter the label of the key to revoke it: ${label}`;
  return new Fault('validation_failed', { details: [{ message, field: 'label' }] });
}
