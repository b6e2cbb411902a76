import { Type } from 'typebox';
import { Fault } from '../../platform/fault.ts';
import {
  listEntries,
  type Settings,
  describeSettings,
  getSettings,
  routesFor,
  type KitDeps,
  type Installation,
} from '../workspace/index.ts';
import { listRateLimits, readEndpoint, setRateLimit } from './rate-limits.ts';
import { quietHoursInForce } from '../sending/index.ts';
import { type Mailroom, showSending } from '../delivery/index.ts';
import { setSettings } from './set-settings.ts';
import { simulatePolicy } from './simulate-policy.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { pauseRoutes } from './pause-routes.ts';

type Deps = KitDeps & { installation: Installation; mailroom: Mailroom };
const { route } = routesFor<Deps>();

const TEXTS = Type.Record(Type.String({ maxLength: 40 }), Type.String({ maxLength: 2_000 }));
const TEXT = Type.Optional(Type.String({ maxLength: 2_000 }));

export const settingRoutes = [
  route('GET /projects/:project/settings', {
    needs: 'viewer',
    handle: async ({ db, mailroom }, { projectId }) => ({ data: await show(db, projectId, mailroom) }),
  }),
  route('PATCH /projects/:project/settings', {
    needs: 'admin',
    audit: 'settings.update',
    body: Type.Object({ settings: TEXTS, seen: Type.Optional(TEXTS) }),
    async handle({ db, mailroom }, { projectId, body, actor, note }) {
      const { settings: wanted, seen = {} } = body;
      const { texts: before } = await getSettings(db, projectId);
      const after = await setSettings(db, projectId, wanted, { actor, seen }).catch((error: unknown) =>
        failed(db, projectId, error),
      );
      const changed = Object.keys(wanted).filter((name) => textOf(before, name) !== textOf(after, name));
      note({
        subject: changed.join(', '),
        before: Object.fromEntries(changed.map((name) => [name, textOf(before, name)])),
        after: Object.fromEntries(changed.map((name) => [name, textOf(after, name)])),
      });
      return { data: await show(db, projectId, mailroom) };
    },
  }),
  route('GET /projects/:project/sending', {
    needs: 'viewer',
    async handle({ db, mailroom, installation }, { projectId }) {
      const sending = await showSending(db, { projectId, now: db.clock.now(), mailroom });
      return { data: { ...sending, has_model: installation.hasModel } };
    },
  }),
  route('GET /projects/:project/policy/simulate', {
    needs: 'viewer',
    isHeavy: true,
    query: Type.Object({
      quiet_hours: TEXT,
      frequency_cap: TEXT,
      throttle: TEXT,
      time_zone: TEXT,
      paused: TEXT,
      autopilot: TEXT,
    }),
    async handle({ db, mailroom }, { projectId, query }) {
      return { data: await simulatePolicy({ db, mailroom }, { projectId, wanted: { ...query } }) };
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
    body: Type.Object({ rate: Type.Optional(Type.Number()), burst: Type.Optional(Type.Number()) }),
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

const CHANGES_LOOKED_AT = 50;

/** Names the other member in a conflict: the audit log has the last author of each setting. */
async function failed(tx: Tx, projectId: number, error: unknown): Promise<never> {
  if (!(error instanceof Fault) || error.code !== 'conflict') throw error;
  const asked = { projectIds: [projectId], actor: null, action: 'settings.', after: null };
  const entries = await listEntries(tx, { ...asked, limit: CHANGES_LOOKED_AT });
  const details = error.details.map(({ field, message }) => {
    const by = entries.find(({ after }) => field !== undefined && Object.hasOwn(after ?? {}, field));
    const who = by && `${by.actorName} changed the setting at ${by.at.toISOString()}: `;
    return { ...(field === undefined ? {} : { field }), message: `${who ?? ''}${message}` };
  });
  throw new Fault('conflict', { details });
}

function textOf(texts: Record<string, string>, name: string): string | undefined {
  return texts[name];
}

async function show(tx: Tx, projectId: number, { outlet }: Pick<Mailroom, 'outlet'>) {
  const { settings, texts } = await getSettings(tx, projectId);
  return {
    settings: describeSettings(texts),
    parsed: toParsed(settings),
    quiet_hours_in_force: quietHoursInForce(settings, outlet) !== null,
  };
}

function toParsed({ quietHours, frequencyCap, throttle, ...settings }: Settings) {
  const { autopilotMs, topics, tracking, teamAddresses, paused } = settings;
  return {
    quiet_hours: quietHours,
    frequency_cap:
      frequencyCap?.map(({ letters, windowMs }) => ({ emails: letters, window_ms: windowMs })) ?? null,
    throttle: throttle && { emails: throttle.letters, per_ms: throttle.perMs },
    autopilot_ms: autopilotMs,
    topics,
    tracking,
    team_addresses: teamAddresses,
    paused,
  };
}
