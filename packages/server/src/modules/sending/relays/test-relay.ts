import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { Database } from '../../../platform/db/database.ts';
import { probeRelay } from '../../../platform/mail/probe-relay.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import type { ResolveHost } from '../../../platform/outbound/host-guard.ts';
import type { CheckResult, RelaySettings } from '../../../platform/relays/adapter.ts';
import type { RelayKinds } from '../../../platform/relays/kinds.ts';
import { redactSecrets, smtpSecrets } from '../../../platform/relays/redact.ts';
import { smtpUrlOf } from '../../../platform/relays/smtp.ts';
import { readRelaySettings } from './read-settings.ts';
import type { ConfiguredRelay } from './relay.ts';
import { updateCheck } from './store.ts';

export type RelayTestDeps = {
  db: Database;
  encrypter: Encrypter;
  kinds: RelayKinds;
  /** Opened for one test. */
  openOutbound: () => Outbound;
  resolveHostOf: (relay: Pick<ConfiguredRelay, 'projectId'>) => ResolveHost;
  smtpUrl: string | null;
};

const WITHIN_MS = 10_000;

/** Signs in to a relay without sending anything, and records the result. */
export async function testRelay(deps: RelayTestDeps, relay: ConfiguredRelay): Promise<CheckResult> {
  const settings = await readRelaySettings(deps, relay);
  const result: CheckResult = settings
    ? await check(deps, relay, settings)
    : { ok: false, message: 'The relay was deleted.', field: null };
  const { projectId, id } = relay;
  const failure = result.ok ? null : result.message;
  await updateCheck(deps.db, { projectId, id, failure, at: deps.db.clock.now() });
  return result;
}

async function check(
  { db, kinds, openOutbound, resolveHostOf, smtpUrl }: RelayTestDeps,
  relay: ConfiguredRelay,
  settings: RelaySettings,
): Promise<CheckResult> {
  const isHttp = kinds.adapterOf(relay.kind) !== undefined;
  if (!isHttp) {
    const url = relay.kind === 'smtp_url' ? smtpUrl : smtpUrlOf(settings);
    if (url === null) return { ok: false, message: 'SMTP_URL is not set any more.', field: null };
    const reason = await probeRelay(url, { withinMs: WITHIN_MS, resolveHost: resolveHostOf(relay) });
    const secrets = [...smtpSecrets(settings), decodeURIComponent(new URL(url).password)];
    if (reason !== null) return { ok: false, message: redactSecrets(reason, secrets), field: null };
  }
  const reporter = kinds.reporterOf(relay.kind, settings);
  if (!reporter || reporter.apiNeeds.length > 0)
    return { ok: true, detail: 'The relay accepted the connection and the sign-in.' };
  const outbound = openOutbound();
  try {
    const context = { settings: reporter.settings, outbound, key: relay.id, now: () => db.clock.now() };
    return await reporter.adapter.check(context);
  } finally {
    outbound.close();
  }
}
