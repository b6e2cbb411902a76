import type { RelayFeedback } from '@beckon/contract/dashboard';
import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import { Fault } from '../../../platform/fault.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import type { RelayAdapter, RelayContext } from '../../../platform/relays/adapter.ts';
import type { RelayKinds } from '../../../platform/relays/kinds.ts';
import type { Reporter } from '../../../platform/relays/reporter.ts';
import { isLoopbackName } from '../../../platform/net/network-address.ts';
import { isoOrNull } from '../../../platform/time/clock.ts';
import {
  changeRelay,
  fieldView,
  type ConfiguredRelay,
  findUsableRelay,
  INSTALLATION,
  maySendEmails,
  readRelaySettings,
  type RestoreGuard,
  type SuppressionHasher,
} from '../../sending/index.ts';
import type { CopyRelays, SendServices } from '../../delivery/index.ts';
import { type KitDeps, requireOperator, routesFor } from '../../workspace/index.ts';
import { IMPORT_ACTION } from '../../outcomes/index.ts';
import { importProviderSuppressions } from './import-suppressions.ts';
import { proveFeedback, requireReporter } from './prove-feedback.ts';
import { pullState } from './pull-feedback.ts';

type Deps = KitDeps &
  CopyRelays & {
    encrypter: Encrypter;
    hasher: SuppressionHasher;
    tokenKeys: TokenKeys;
    relayKinds: RelayKinds;
    sendServices: SendServices;
    openOutbound: () => Outbound;
    restoreGuard?: RestoreGuard | undefined;
  };
const { route } = routesFor<Deps>();

type RelayParams = { projectId: number; params: { relay: string } };

export const relayFeedbackRoutes = [
  route('GET /projects/:project/relays/:relay/feedback', {
    needs: 'admin',
    handle: async (deps, request) => ({ data: await feedbackOf(deps, await relayOf(deps, request)) }),
  }),
  route('POST /projects/:project/relays/:relay/feedback/webhook', {
    needs: 'admin',
    audit: 'relay.register_webhook',
    async handle(deps, request) {
      const relay = await relayOf(deps, request);
      if (relay.projectId === INSTALLATION)
        await requireOperator(deps, request.member, 'change relays of the installation');
      await requireAccepted(deps);
      await register(deps, relay);
      request.note({ subject: relay.name });
      return { data: await feedbackOf(deps, await relayOf(deps, request)) };
    },
  }),
  route('POST /projects/:project/relays/:relay/suppressions', {
    needs: 'admin',
    isHeavy: true,
    audit: IMPORT_ACTION,
    async handle(deps, request) {
      const relay = await relayOf(deps, request);
      const { projectId, actor, note } = request;
      const data = await withProvider(deps, relay, (adapter, context) =>
        importProviderSuppressions({ ...deps, actor }, { projectId, adapter, context }),
      );
      note({ subject: relay.name, after: { rows: data.rows, added: data.added } });
      return { data };
    },
  }),
  route('POST /projects/:project/relays/:relay/feedback/proof', {
    needs: 'admin',
    audit: 'relay.prove_feedback',
    async handle(deps, request) {
      const relay = await relayOf(deps, request);
      await requireAccepted(deps);
      const { projectId, body } = request;
      const kinds = deps.relayKinds;
      const sent = await proveFeedback(
        { ...deps, kinds },
        { projectId, relay, address: body.address ?? null },
      );
      request.note({ subject: relay.name, after: { to: sent.to } });
      return { data: sent };
    },
  }),
];

function relayOf({ db }: Deps, { projectId, params }: RelayParams): Promise<ConfiguredRelay> {
  return findUsableRelay(db, { projectId, id: params.relay });
}

/** A restored database must not take over the webhook of the original, or send. */
async function requireAccepted(deps: Deps): Promise<void> {
  if (await maySendEmails({ ...deps, restoreGuard: deps.restoreGuard ?? 'auto' })) return;
  const message = 'This database was restored. Confirm the restore first';
  throw new Fault('conflict', { details: [{ message, field: 'relay' }] });
}

function register(deps: Deps, relay: ConfiguredRelay): Promise<void> {
  const { encrypter, relayKinds: kinds, db } = deps;
  return withProvider(deps, relay, async ({ webhook, title }, context) => {
    if (!webhook?.register) throw conflict(`${title} does not create webhooks by API. Create it there`);
    const result = await webhook.register(hookUrlOf(deps, relay), context);
    if (!result.ok) throw conflict(result.message);
    if (Object.keys(result.settings).length > 0)
      await changeRelay({ db, encrypter, kinds }, relay, { settings: result.settings });
  });
}

/** Opens connections to the provider of a relay for some requests. */
async function withProvider<T>(
  deps: Deps,
  relay: ConfiguredRelay,
  work: (adapter: RelayAdapter, context: RelayContext) => Promise<T>,
): Promise<T> {
  const { db } = deps;
  const { adapter, settings, apiNeeds } = await requireReporter({ ...deps, kinds: deps.relayKinds }, relay);
  if (apiNeeds.length > 0)
    throw conflict(`Enter the settings for requests to ${adapter.title} first: ${apiNeeds.join(', ')}`);
  const outbound = deps.openOutbound();
  try {
    return await work(adapter, { settings, outbound, key: relay.id, now: () => db.clock.now() });
  } finally {
    outbound.close();
  }
}

function hookUrlOf({ sendServices }: Deps, { id }: ConfiguredRelay): string {
  return new URL(`/hooks/relays/${id}`, sendServices.outlet.publicUrl).href;
}

async function feedbackOf(deps: Deps, relay: ConfiguredRelay): Promise<RelayFeedback> {
  const { relayKinds } = deps;
  const settings = (await readRelaySettings(deps, relay)) ?? {};
  const provenAt = isoOrNull(relay.feedbackProvenAt);
  const reporter = relayKinds.reporterOf(relay.kind, settings);
  if (!reporter)
    return {
      proven_at: provenAt,
      provider: null,
      by_smtp: true,
      fields: [],
      api_needs: [],
      webhook: null,
      pull: 'none',
      simulator: null,
      can_import_suppressions: false,
    };
  const { adapter, apiNeeds } = reporter;
  return {
    proven_at: provenAt,
    provider: adapter.title,
    by_smtp: relayKinds.adapterOf(relay.kind) === undefined,
    fields: (relayKinds.of(relay.kind, settings)?.fields ?? []).map(fieldView),
    api_needs: apiNeeds,
    webhook: webhookView(deps, relay, reporter),
    pull: pullState(reporter),
    simulator: adapter.simulator?.bounce ?? null,
    can_import_suppressions: adapter.suppressions !== null && apiNeeds.length === 0,
  };
}

function webhookView(
  deps: Deps,
  relay: ConfiguredRelay,
  { adapter, settings, apiNeeds }: Reporter,
): RelayFeedback['webhook'] {
  const { webhook, fields } = adapter;
  if (!webhook) return null;
  const hookUrl = hookUrlOf(deps, relay);
  const field = webhook.verifiedBy;
  const label = fields.find(({ name }) => name === field)?.label ?? field;
  return {
    url: webhook.url(hookUrl, settings),
    events: [...webhook.events],
    missing: settings[field] === undefined ? { field, label } : null,
    can_register: webhook.register !== undefined && apiNeeds.length === 0,
    is_local: isLoopbackName(new URL(hookUrl).hostname),
  };
}

function conflict(message: string): Fault {
  return new Fault('conflict', { details: [{ message, field: 'relay' }] });
}
