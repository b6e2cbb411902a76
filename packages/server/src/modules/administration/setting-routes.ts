import type { EndpointRateLimit } from '@beckon/contract/dashboard';
import { type Endpoint, ENDPOINTS } from '@beckon/contract';
import { pauseRoutes } from './pause-routes.ts';
import { setSettings } from './set-settings.ts';
import { simulatePolicy } from './simulate-policy.ts';
import { findOutlet, type SendServices, readSendingState, quietHoursInForce } from '../delivery/index.ts';
import {
  describeSettings,
  getSettings,
  type Installation,
  invalid,
  type KitDeps,
  listEntries,
  routesFor,
  type Settings,
  unknownProject,
} from '../workspace/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { Fault } from '../../platform/fault.ts';
import type { Clock } from '../../platform/time/clock.ts';
import { listRateLimitRows, updateRateLimit } from './project-store.ts';

type Deps = KitDeps & { installation: Installation; sendServices: SendServices };
const { route } = routesFor<Deps>();

export const settingRoutes = [
  route('GET /projects/:project/settings', {
    needs: 'viewer',
    handle: async ({ db, sendServices }, { projectId }) => ({
      data: await settingsView(db, projectId, sendServices),
    }),
  }),
  route('PATCH /projects/:project/settings', {
    needs: 'admin',
    audit: 'settings.update',
    async handle({ db, sendServices }, { projectId, body, actor, note }) {
      const { settings: changes, seen = {} } = body;
      const { texts: before } = await getSettings(db, projectId);
      const after = await setSettings(db, projectId, changes, { actor, seen }).catch((error: unknown) =>
        throwWithAuthor(db, projectId, error),
      );
      const changed = Object.keys(changes).filter((name) => textOf(before, name) !== textOf(after, name));
      note({
        subject: changed.join(', '),
        before: Object.fromEntries(changed.map((name) => [name, textOf(before, name)])),
        after: Object.fromEntries(changed.map((name) => [name, textOf(after, name)])),
      });
      return { data: await settingsView(db, projectId, sendServices) };
    },
  }),
  route('GET /projects/:project/sending', {
    needs: 'viewer',
    async handle({ db, sendServices, installation }, { projectId }) {
      const sending = await readSendingState(db, { projectId, now: db.clock.now(), sendServices });
      return { data: { ...sending, has_model: installation.hasModel } };
    },
  }),
  route('GET /projects/:project/policy/simulate', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db, sendServices }, { projectId, query }) {
      return { data: await simulatePolicy({ db, sendServices }, { projectId, settings: { ...query } }) };
    },
  }),
  route('GET /projects/:project/rate-limits', {
    needs: 'viewer',
    async handle({ db }, { projectId }) {
      const data = await listRateLimits(db, projectId);
      const pagination = { total: data.length, offset: 0, limit: data.length };
      return { data, meta: { pagination, cursor: null } };
    },
  }),
  route('PATCH /projects/:project/rate-limits/:endpoint', {
    needs: 'admin',
    audit: 'rate_limit.update',
    async handle({ db }, { projectId, params, body, note }) {
      const endpoint = readEndpoint(params.endpoint);
      const before = (await listRateLimits(db, projectId)).find((limit) => limit.endpoint === endpoint);
      const data = await setRateLimit({ tx: db, clock: db.clock }, { projectId, endpoint }, body);
      note({ subject: endpoint, before, after: data });
      return { data };
    },
  }),
  ...pauseRoutes,
];

const ENTRIES_MAX = 50;

/** Names the other member in a conflict: the audit log has the last author of each setting. */
async function throwWithAuthor(tx: Tx, projectId: number, error: unknown): Promise<never> {
  if (!(error instanceof Fault) || error.code !== 'conflict') throw error;
  const query = { projectIds: [projectId], actor: null, action: 'settings.', after: null };
  const entries = await listEntries(tx, { ...query, limit: ENTRIES_MAX });
  const details = error.details.map(({ field, message }) => {
    const by = entries.find(({ after }) => field !== undefined && Object.hasOwn(after ?? {}, field));
    const prefix = by && `${by.actorName} changed the setting at ${by.at.toISOString()}: `;
    return { ...(field === undefined ? {} : { field }), message: `${prefix ?? ''}${message}` };
  });
  throw new Fault('conflict', { details });
}

function textOf(texts: Record<string, string>, name: string): string | undefined {
  return texts[name];
}

async function settingsView(tx: Tx, projectId: number, { outlet }: Pick<SendServices, 'outlet'>) {
  const { settings, texts } = await getSettings(tx, projectId);
  return {
    settings: describeSettings(texts),
    parsed: toParsed(settings),
    quiet_hours_in_force: quietHoursInForce(settings, await findOutlet(tx, projectId, outlet)) !== null,
  };
}

function toParsed({ quietHours, frequencyCap, throttle, ...settings }: Settings) {
  const { autopilotMs, topics, tracking, teamAddresses, paused } = settings;
  return {
    quiet_hours: quietHours,
    frequency_cap: frequencyCap?.map(({ emails, windowMs }) => ({ emails, window_ms: windowMs })) ?? null,
    throttle: throttle && { emails: throttle.emails, per_ms: throttle.perMs },
    autopilot_ms: autopilotMs,
    topics,
    tracking,
    team_addresses: teamAddresses,
    paused,
  };
}

type RateLimitChange = { rate?: number | undefined; burst?: number | undefined };

const RATE_MAX = 1_000_000;
const BURST_MAX = 10_000_000;

export async function listRateLimits(tx: Tx, projectId: number): Promise<EndpointRateLimit[]> {
  const rows = await listRateLimitRows(tx, projectId);
  return ENDPOINTS.flatMap((endpoint) => {
    const row = rows.find((limit) => limit.endpoint === endpoint);
    return row ?? [];
  });
}

export async function setRateLimit(
  deps: { tx: Tx; clock: Clock },
  where: { projectId: number; endpoint: Endpoint },
  { rate, burst }: RateLimitChange,
): Promise<EndpointRateLimit> {
  checkChange({ rate, burst });
  const at = new Date(deps.clock.now());
  const row = await updateRateLimit(deps.tx, { ...where, rate: rate ?? null, burst: burst ?? null, at });
  if (!row) throw unknownProject(where.projectId);
  return row;
}

function checkChange({ rate, burst }: RateLimitChange): void {
  if (rate === undefined && burst === undefined) throw invalid('Set rate, burst, or both');
  if (rate !== undefined && !(rate > 0 && rate <= RATE_MAX))
    throw invalid(`rate must be a number of requests per second, above 0 and at most ${RATE_MAX}`, 'rate');
  if (burst !== undefined && !(Number.isInteger(burst) && burst >= 1 && burst <= BURST_MAX))
    throw invalid(`burst must be a whole number of requests from 1 to ${BURST_MAX}`, 'burst');
}

/** Reads an endpoint by its name (`users-bulk`) or its path (`users/bulk`). */
export function readEndpoint(text: string): Endpoint {
  const endpoint = ENDPOINTS.find((name) => name === text.replaceAll('/', '-'));
  if (endpoint) return endpoint;
  throw invalid(`endpoint must be one of ${ENDPOINTS.join(', ')}`, 'endpoint');
}
