import type { SendingDomain } from '@beckon/contract/dashboard';
import { Type } from 'typebox';
import { addDomain, pauseDomain, removeDomain, resumeDomain, rotateKey, setDomain } from './change-domain.ts';
import { type DomainView, showDomain, showDomains } from './domain-view.ts';
import { type MailSettings, maySend, printThrottle, type Tracking } from './domain.ts';
import { lookAtDomain } from './check-domain.ts';
import { trackDomain } from './tracking.ts';
import { type Installation, type KitDeps, routesFor, wholeList } from '../../workspace/index.ts';
import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import type { Sealer } from '../../../platform/crypto/encrypt.ts';
import type { Resolver } from '../../../platform/dns/resolver.ts';
import { Fault } from '../../../platform/fault.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import { iso, isoOrNull } from '../../../platform/time/clock.ts';

type Deps = KitDeps & {
  mail: MailSettings;
  installation: Installation;
  openOutbound: () => Outbound;
  resolver: Resolver;
  sealer: Sealer;
  tokenKeys: TokenKeys;
};
const { route } = routesFor<Deps>();

const SPEED = { throttle: Type.Optional(Type.String()), warm: Type.Optional(Type.Boolean()) };
const REASON_MAX = 200;

const domainsRoutes = [
  route('GET /projects/:project/domains', {
    needs: 'viewer',
    async handle(deps, { projectId }) {
      const views = await showDomains(deps.db, projectId, deps.mail);
      return wholeList(views.map((view) => toDomain(deps, view)));
    },
  }),
  route('POST /projects/:project/domains', {
    needs: 'admin',
    audit: 'domain.add',
    body: Type.Object({ name: Type.String(), ...SPEED }),
    async handle(deps, { projectId, body, note }) {
      const view = await addDomain(deps, { projectId, ...body, throttle: body.throttle, warm: body.warm });
      note({ subject: view.domain.name, after: body });
      return { data: toDomain(deps, view) };
    },
  }),
  route('GET /projects/:project/domains/:domain', {
    needs: 'viewer',
    handle: async (deps, asked) => ({
      data: toDomain(deps, await showDomain(deps.db, placeOf(asked), deps.mail)),
    }),
  }),
  route('PATCH /projects/:project/domains/:domain', {
    needs: 'admin',
    audit: 'domain.update',
    body: Type.Object(SPEED),
    async handle(deps, asked) {
      const place = placeOf(asked);
      const before = toDomain(deps, await showDomain(deps.db, place, deps.mail));
      const { throttle, warm } = asked.body;
      const after = toDomain(deps, await setDomain(deps, place, { throttle, warm }));
      asked.note({ subject: after.name, before: speedOf(before), after: speedOf(after) });
      return { data: after };
    },
  }),
  route('DELETE /projects/:project/domains/:domain', {
    needs: 'admin',
    audit: 'domain.remove',
    body: Type.Object({ name: Type.String() }),
    async handle({ db, mail }, asked) {
      const place = placeOf(asked);
      const { domain } = await showDomain(db, place, mail);
      if (asked.body.name !== domain.name) throw notTyped(domain.name);
      await removeDomain(db, place);
      asked.note({ subject: domain.name, before: { state: domain.state } });
      return { data: { name: domain.name } };
    },
  }),
];

const domainActRoutes = [
  route('POST /projects/:project/domains/:domain/check', {
    needs: 'admin',
    audit: 'domain.check',
    async handle(deps, asked) {
      const data = toDomain(deps, await lookAtDomain(deps, placeOf(asked)));
      asked.note({ subject: data.name, after: { state: data.state } });
      return { data };
    },
  }),
  route('POST /projects/:project/domains/:domain/rotate', {
    needs: 'admin',
    audit: 'domain.rotate_key',
    async handle(deps, asked) {
      const data = toDomain(deps, await rotateKey(deps, placeOf(asked)));
      asked.note({ subject: data.name });
      return { data };
    },
  }),
  route('POST /projects/:project/domains/:domain/pause', {
    needs: 'admin',
    audit: 'domain.pause',
    body: Type.Object({
      reason: Type.Optional(Type.String({ maxLength: REASON_MAX, pattern: '^\\P{Cc}*$' })),
    }),
    async handle(deps, asked) {
      const { person, body, note } = asked;
      const why = body.reason?.trim() ?? '';
      const reason = `${person.name} paused it${why === '' ? '' : `: ${why}`}`;
      const data = toDomain(deps, await pauseDomain(deps, placeOf(asked), reason));
      note({ subject: data.name, after: { has_reason: why !== '' } });
      return { data };
    },
  }),
  route('POST /projects/:project/domains/:domain/resume', {
    needs: 'admin',
    audit: 'domain.resume',
    async handle(deps, asked) {
      const place = placeOf(asked);
      const before = await showDomain(deps.db, place, deps.mail);
      const { asked: askedAgain } = await resumeDomain(deps.db, place);
      const data = toDomain(deps, await showDomain(deps.db, place, deps.mail));
      const { pausedAt } = before.domain;
      const paused = { paused_at: isoOrNull(pausedAt) };
      asked.note({ subject: data.name, before: paused, after: { retried: askedAgain } });
      return { data: { ...data, retried: askedAgain } };
    },
  }),
  route('PUT /projects/:project/domains/:domain/tracking', {
    needs: 'admin',
    audit: 'domain.set_tracking_host',
    body: Type.Object({ host: Type.Union([Type.String(), Type.Null()]) }),
    async handle(deps, asked) {
      const place = placeOf(asked);
      const before = await showDomain(deps.db, place, deps.mail);
      const data = toDomain(deps, await trackDomain(deps, place, asked.body.host));
      const { tracking } = before.domain;
      asked.note({ subject: data.name, before: { host: tracking?.host ?? null }, after: asked.body });
      return { data };
    },
  }),
];

export const domainRoutes = [...domainsRoutes, ...domainActRoutes];

function placeOf(asked: { projectId: number; params: { domain: string } }): {
  projectId: number;
  name: string;
} {
  return { projectId: asked.projectId, name: asked.params.domain };
}

function toDomain({ installation }: Pick<Deps, 'installation'>, view: DomainView): SendingDomain {
  const { tracking, ...shown } = toShown(view);
  const leadsTo = new URL(installation.publicUrl).hostname;
  return {
    ...shown,
    can_send: maySend(view.domain) && view.domain.pausedAt === null,
    tracking: tracking && { ...tracking, cname_target: leadsTo },
  };
}

function speedOf({ throttle, warm }: SendingDomain): object {
  return { throttle, warm };
}

function notTyped(name: string): Fault {
  const message = `Enter the name of the domain to remove it: ${name}`;
  return new Fault('validation_failed', { details: [{ message, field: 'name' }] });
}

/** A domain as the API and the dashboard return it. */
function toShown({ domain, records }: DomainView) {
  return {
    id: domain.id,
    name: domain.name,
    state: domain.state,
    records: records.map(toShownRecord),
    throttle: printThrottle(domain.throttle),
    warm: domain.warm,
    warmup_from: isoOrNull(domain.warmupFrom),
    tracking: toShownTracking(domain.tracking),
    paused_at: isoOrNull(domain.pausedAt),
    paused_reason: domain.pausedReason,
    created_at: iso(domain.createdAt),
    verified_at: isoOrNull(domain.verifiedAt),
    checked_at: isoOrNull(domain.checkedAt),
    next_check_at: isoOrNull(domain.nextCheckAt),
  };
}

/** `status`: ok, missing, wrong or unknown; unchecked before the first check. */
function toShownRecord(record: DomainView['records'][number]) {
  const { kind, name, type, value, split, required, keyState, finding } = record;
  return {
    kind,
    name,
    type,
    value,
    split,
    required,
    status: finding?.verdict ?? ('unchecked' as const),
    found: finding?.found ?? [],
    message: finding?.says ?? null,
    warning: finding ? finding.warns || (!required && finding.verdict !== 'ok') : false,
    key_state: keyState,
  };
}

function toShownTracking(tracking: Tracking | null) {
  if (!tracking) return null;
  const { host, state, found, checkedAt, nextAt } = tracking;
  return {
    host,
    state,
    found,
    checked_at: isoOrNull(checkedAt),
    next_check_at: iso(nextAt),
  };
}
