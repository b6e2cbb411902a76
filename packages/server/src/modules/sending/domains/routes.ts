import { FILTER_KEYS, type ListResponse, type SendingDomain } from '@beckon/contract/dashboard';
import { matches, WORDS, wordsText } from '../../../platform/filter/filter.ts';
import { readFilter } from '../../../platform/filter/parse.ts';
import { addDomain, pauseDomain, removeDomain, resumeDomain, rotateKey, setDomain } from './change-domain.ts';
import { type DomainView, showDomain, showDomains } from './domain-view.ts';
import { type MailSettings, maySend, printThrottle, type Tracking } from './domain.ts';
import { checkDomainNow } from './check-domain.ts';
import { trackDomain } from './tracking.ts';
import {
  type CsvColumns,
  type Installation,
  type KitDeps,
  type ListQuery,
  pageOfAll,
  routesFor,
  sendCsv,
  zoneOfProject,
} from '../../workspace/index.ts';
import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { Resolver } from '../../../platform/dns/resolver.ts';
import { Fault } from '../../../platform/fault.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import { iso, isoOrNull } from '../../../platform/time/clock.ts';

type Deps = KitDeps & {
  mail: MailSettings;
  installation: Installation;
  openOutbound: () => Outbound;
  resolver: Resolver;
  encrypter: Encrypter;
  tokenKeys: TokenKeys;
};
const { route } = routesFor<Deps>();

type DomainsQuery = ListQuery & { projectId: number; filter?: string };

async function domainPage(
  deps: Deps,
  { projectId, filter: text, ...page }: DomainsQuery,
): Promise<ListResponse<SendingDomain>> {
  const filter = readFilter(text, FILTER_KEYS.domains, await zoneOfProject(deps.db, projectId));
  const rows = (await showDomains(deps.db, projectId, deps.mail))
    .map((view) => toDomain(deps, view))
    .filter(({ name, state, paused_at: paused, created_at: added }) =>
      matches(filter, {
        name,
        state,
        paused: paused === null ? 'no' : 'yes',
        added,
        [WORDS]: wordsText([name]),
      }),
    );
  return pageOfAll(rows, page);
}

const CSV_COLUMNS: CsvColumns<SendingDomain> = {
  name: ({ name }) => name,
  state: ({ state }) => state,
  can_send: ({ can_send: canSend }) => canSend,
  records: ({ records }) => records.length,
  correct_records: ({ records }) => records.filter(({ status }) => status === 'ok').length,
  throttle: ({ throttle }) => throttle,
  tracking_host: ({ tracking }) => tracking && tracking.host,
  paused_at: ({ paused_at: at }) => at,
  created_at: ({ created_at: at }) => at,
  verified_at: ({ verified_at: at }) => at,
  checked_at: ({ checked_at: at }) => at,
};

const domainsRoutes = [
  route('GET /projects/:project/domains', {
    needs: 'viewer',
    handle: (deps, { projectId, query }) => domainPage(deps, { projectId, ...query }),
  }),
  route('GET /projects/:project/domains.csv', {
    needs: 'viewer',
    isHeavy: true,
    slot: 'statement',
    handle: (deps, { projectId, query, reply }) =>
      sendCsv(reply, {
        name: 'domains.csv',
        columns: CSV_COLUMNS,
        load: (page) => domainPage(deps, { projectId, ...query, ...page }),
      }),
  }),
  route('POST /projects/:project/domains', {
    needs: 'admin',
    audit: 'domain.add',
    async handle(deps, { projectId, body, note }) {
      const view = await addDomain(deps, { projectId, ...body, throttle: body.throttle, warm: body.warm });
      note({ subject: view.domain.name, after: body });
      return { data: toDomain(deps, view) };
    },
  }),
  route('GET /projects/:project/domains/:domain', {
    needs: 'viewer',
    handle: async (deps, request) => ({
      data: toDomain(deps, await showDomain(deps.db, refOf(request), deps.mail)),
    }),
  }),
  route('PATCH /projects/:project/domains/:domain', {
    needs: 'admin',
    audit: 'domain.update',
    async handle(deps, request) {
      const ref = refOf(request);
      const before = toDomain(deps, await showDomain(deps.db, ref, deps.mail));
      const { throttle, warm } = request.body;
      const after = toDomain(deps, await setDomain(deps, ref, { throttle, warm }));
      request.note({ subject: after.name, before: speedOf(before), after: speedOf(after) });
      return { data: after };
    },
  }),
  route('DELETE /projects/:project/domains/:domain', {
    needs: 'admin',
    audit: 'domain.remove',
    async handle({ db, mail }, request) {
      const ref = refOf(request);
      const { domain } = await showDomain(db, ref, mail);
      if (request.body.name !== domain.name) throw notTyped(domain.name);
      await removeDomain(db, ref);
      request.note({ subject: domain.name, before: { state: domain.state } });
      return { data: { name: domain.name } };
    },
  }),
];

const domainActRoutes = [
  route('POST /projects/:project/domains/:domain/check', {
    needs: 'admin',
    audit: 'domain.check',
    async handle(deps, request) {
      const data = toDomain(deps, await checkDomainNow(deps, refOf(request)));
      request.note({ subject: data.name, after: { state: data.state } });
      return { data };
    },
  }),
  route('POST /projects/:project/domains/:domain/rotate', {
    needs: 'admin',
    audit: 'domain.rotate_key',
    async handle(deps, request) {
      const data = toDomain(deps, await rotateKey(deps, refOf(request)));
      request.note({ subject: data.name });
      return { data };
    },
  }),
  route('POST /projects/:project/domains/:domain/pause', {
    needs: 'admin',
    audit: 'domain.pause',
    async handle(deps, request) {
      const { member, body, note } = request;
      const why = body.reason?.trim() ?? '';
      const reason = `${member.name} paused it${why === '' ? '' : `: ${why}`}`;
      const data = toDomain(deps, await pauseDomain(deps, refOf(request), reason));
      note({ subject: data.name, after: { has_reason: why !== '' } });
      return { data };
    },
  }),
  route('POST /projects/:project/domains/:domain/resume', {
    needs: 'admin',
    audit: 'domain.resume',
    async handle(deps, request) {
      const ref = refOf(request);
      const before = await showDomain(deps.db, ref, deps.mail);
      const { retried: retriedDrafts } = await resumeDomain(deps.db, ref);
      const data = toDomain(deps, await showDomain(deps.db, ref, deps.mail));
      const { pausedAt } = before.domain;
      const paused = { paused_at: isoOrNull(pausedAt) };
      request.note({ subject: data.name, before: paused, after: { retried: retriedDrafts } });
      return { data: { ...data, retried: retriedDrafts } };
    },
  }),
  route('PUT /projects/:project/domains/:domain/tracking', {
    needs: 'admin',
    audit: 'domain.set_tracking_host',
    async handle(deps, request) {
      const ref = refOf(request);
      const before = await showDomain(deps.db, ref, deps.mail);
      const data = toDomain(deps, await trackDomain(deps, ref, request.body.host));
      const { tracking } = before.domain;
      request.note({ subject: data.name, before: { host: tracking?.host ?? null }, after: request.body });
      return { data };
    },
  }),
];

export const domainRoutes = [...domainsRoutes, ...domainActRoutes];

function refOf(request: { projectId: number; params: { domain: string } }): {
  projectId: number;
  name: string;
} {
  return { projectId: request.projectId, name: request.params.domain };
}

function toDomain({ installation }: Pick<Deps, 'installation'>, view: DomainView): SendingDomain {
  const { tracking, ...fields } = domainFields(view);
  const leadsTo = new URL(installation.publicUrl).hostname;
  return {
    ...fields,
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
function domainFields({ domain, records }: DomainView) {
  return {
    id: domain.id,
    name: domain.name,
    state: domain.state,
    records: records.map(recordFields),
    throttle: printThrottle(domain.throttle),
    warm: domain.warm,
    warmup_from: isoOrNull(domain.warmupFrom),
    tracking: trackingFields(domain.tracking),
    paused_at: isoOrNull(domain.pausedAt),
    paused_reason: domain.pausedReason,
    created_at: iso(domain.createdAt),
    verified_at: isoOrNull(domain.verifiedAt),
    checked_at: isoOrNull(domain.checkedAt),
    next_check_at: isoOrNull(domain.nextCheckAt),
  };
}

/** `status`: ok, missing, wrong or unknown; unchecked before the first check. */
function recordFields(record: DomainView['records'][number]) {
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

function trackingFields(tracking: Tracking | null) {
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
