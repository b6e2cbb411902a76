import type { Relay } from '@beckon/contract/dashboard';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { Resolver } from '../../../platform/dns/resolver.ts';
import { Fault } from '../../../platform/fault.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import type { ResolveHost } from '../../../platform/outbound/host-guard.ts';
import type { RelayKinds } from '../../../platform/relays/kinds.ts';
import {
  type Installation,
  isId,
  type KitDeps,
  listSettings,
  requireOperator,
  type RouteRequest,
  routesFor,
  wholeList,
} from '../../workspace/index.ts';
import { type MailSettings, normaliseDomainName } from '../domains/domain.ts';
import { findDomain } from '../domains/reads.ts';
import { addRelay, changeRelay, removeRelay, unknownRelay, useRelay } from './change-relay.ts';
import { findRelay, findSmtpUrlRelay } from './reads.ts';
import { type ConfiguredRelay, INSTALLATION, WHOLE_PROJECT } from './relay.ts';
import { kindView, showRelays } from './relay-view.ts';
import { showRecords } from './show-records.ts';
import { testRelay } from './test-relay.ts';

type Deps = KitDeps & {
  encrypter: Encrypter;
  relayKinds: RelayKinds;
  installation: Installation;
  openOutbound: () => Outbound;
  resolver: Resolver;
  mail: MailSettings;
  smtpUrl: string | null;
  resolveHostOf(relay: Pick<ConfiguredRelay, 'projectId'>): ResolveHost;
};
const { route } = routesFor<Deps>();

const readRoutes = [
  route('GET /projects/:project/relay-setup', {
    needs: 'viewer',
    async handle(deps, request) {
      const { relayKinds, installation, db } = deps;
      const host = installation.relay === null ? null : new URL(installation.relay).hostname;
      const provider = relayKinds.list.find(({ smtpHost }) => host !== null && smtpHost?.test(host));
      const kind = provider?.kind ?? null;
      const feedback = provider ? await findSmtpUrlRelay(db) : undefined;
      return {
        data: {
          kinds: relayKinds.list.map(kindView),
          smtp_url: host === null ? null : { host, kind, feedback_relay: feedback?.id ?? null },
          operator: await isOperator(deps, request.member),
          inside: await isInside(deps, request.projectId),
        },
      };
    },
  }),
  route('GET /projects/:project/relays', {
    needs: 'viewer',
    handle: async (deps, request) => wholeList(await relaysOf(deps, request)),
  }),
  route('GET /projects/:project/relays/:relay', {
    needs: 'viewer',
    handle: async (deps, request) => ({ data: await relayOf(deps, request, request.params.relay) }),
  }),
  route('GET /projects/:project/relays/:relay/domains/:domain', {
    needs: 'admin',
    async handle(deps, request) {
      const { projectId, params } = request;
      const relay = await findUsable(deps, request);
      const name = normaliseDomainName(params.domain);
      if (!(await findDomain(deps.db, { projectId, name })))
        throw new Fault('not_found', {
          details: [{ message: `Unknown domain ${params.domain}`, field: 'domain' }],
        });
      return { data: await showRecords(withKinds(deps), relay, name) };
    },
  }),
];

const changeRoutes = [
  route('POST /projects/:project/relays', {
    needs: 'admin',
    audit: 'relay.create',
    async handle(deps, request) {
      const { body, note } = request;
      await requireOutside(deps, request.projectId);
      const isShared = body.installation === true;
      if (isShared) await requireOperator(deps, request.member, 'set up relays of the installation');
      const projectId = isShared ? INSTALLATION : request.projectId;
      const { id } = await addRelay(withKinds(deps), { ...body, projectId });
      const relay = await relayOf(deps, request, id);
      note({ subject: relay.name, after: { ...auditOf(relay), settings: relay.settings } });
      return { data: relay };
    },
  }),
  route('PATCH /projects/:project/relays/:relay', {
    needs: 'admin',
    audit: 'relay.update',
    async handle(deps, request) {
      const { body, note, params } = request;
      const ref = await findOwned(deps, request);
      const before = await relayOf(deps, request, params.relay);
      await changeRelay(withKinds(deps), ref, body);
      const after = await relayOf(deps, request, params.relay);
      // Values may be secrets, so the entry has only the names of the fields.
      const changed = Object.keys(body.settings ?? {}).toSorted();
      note({ subject: after.name, before: auditOf(before), after: { ...auditOf(after), changed } });
      return { data: after };
    },
  }),
  route('DELETE /projects/:project/relays/:relay', {
    needs: 'admin',
    audit: 'relay.delete',
    async handle(deps, request) {
      const relay = await removeRelay(deps, await findOwned(deps, request), request.body.name);
      request.note({ subject: relay.name, before: { kind: relay.kind } });
      return { data: { name: relay.name } };
    },
  }),
  route('POST /projects/:project/relays/:relay/test', {
    needs: 'admin',
    audit: 'relay.test',
    async handle(deps, request) {
      const found = await findUsable(deps, request);
      const result = await testRelay(withKinds(deps), found);
      const relay = await relayOf(deps, request, found.id);
      request.note({ subject: relay.name, after: { ok: result.ok } });
      const message = result.ok ? result.detail : result.message;
      return { data: { ok: result.ok, message, field: result.ok ? null : result.field, relay } };
    },
  }),
  route('PUT /projects/:project/relay-use', {
    needs: 'admin',
    audit: 'relay.use',
    async handle(deps, request) {
      const { projectId, body, member, note } = request;
      await requireOutside(deps, projectId);
      const isShared = body.installation === true;
      if (isShared && body.domain !== undefined)
        throw new Fault('validation_failed', {
          details: [{ message: 'Set either `domain` or `installation`', field: 'domain' }],
        });
      if (isShared) await requireOperator(deps, member, 'choose the relay of the installation');
      const relay =
        body.relay === null ? null : await findChosen(deps, { projectId, id: body.relay, isShared });
      const domain = body.domain ?? WHOLE_PROJECT;
      await useRelay(deps, { projectId: isShared ? INSTALLATION : projectId, domain, relay });
      const place = body.domain ?? (isShared ? 'installation' : 'project');
      note({ subject: place, after: { relay: relay?.name ?? null } });
      return wholeList(await relaysOf(deps, request));
    },
  }),
];

export const relayRoutes = [...readRoutes, ...changeRoutes];

type Caller = Pick<RouteRequest<never>, 'projectId' | 'member'>;
type RelayRequest = Caller & { params: { relay: string } };

function withKinds(deps: Deps) {
  return { ...deps, kinds: deps.relayKinds };
}

async function relaysOf(deps: Deps, { projectId, member }: Caller): Promise<Relay[]> {
  return showRelays(withKinds(deps), { projectId, isOperator: await isOperator(deps, member) });
}

async function relayOf(deps: Deps, caller: Caller, id: string): Promise<Relay> {
  const relay = (await relaysOf(deps, caller)).find((listed) => listed.id === id);
  if (!relay) throw unknownRelay(id);
  return relay;
}

/** Finds a relay that emails of the project may be sent through: its own, or one of the installation. */
async function findUsable(deps: Deps, request: RelayRequest): Promise<ConfiguredRelay> {
  const { projectId, params } = request;
  return findChosen(deps, { projectId, id: params.relay, isShared: false });
}

/** `isShared`: only relays of the installation can be used by all projects. */
async function findChosen(
  { db }: Pick<Deps, 'db'>,
  { projectId, id, isShared }: { projectId: number; id: string; isShared: boolean },
): Promise<ConfiguredRelay> {
  if (!isId(id)) throw unknownRelay(id);
  const own = isShared ? undefined : await findRelay(db, { projectId, id });
  const relay = own ?? (await findRelay(db, { projectId: INSTALLATION, id }));
  if (!relay) throw unknownRelay(id);
  return relay;
}

/** Finds a relay that the caller may change. */
async function findOwned(deps: Deps, request: RelayRequest): Promise<ConfiguredRelay> {
  const relay = await findUsable(deps, request);
  if (relay.projectId === INSTALLATION)
    await requireOperator(deps, request.member, 'change relays of the installation');
  return relay;
}

async function isOperator(deps: Deps, member: Caller['member']): Promise<boolean> {
  try {
    await requireOperator(deps, member, 'change relays of the installation');
    return true;
  } catch (error) {
    if (error instanceof Fault && error.code === 'role_required') return false;
    throw error;
  }
}

async function isInside({ db }: Pick<Deps, 'db'>, projectId: number): Promise<boolean> {
  const project = (await listSettings(db, [projectId])).get(projectId);
  return project !== undefined && (project.isDemo || !project.livemode);
}

async function requireOutside(deps: Pick<Deps, 'db'>, projectId: number): Promise<void> {
  if (!(await isInside(deps, projectId))) return;
  const message = 'A demo or sandbox project has no relay, because its emails stay in the test inbox';
  throw new Fault('conflict', { details: [{ message, field: 'project' }] });
}

function auditOf({ kind, name, owner }: Relay): object {
  return { kind, name, owner };
}
