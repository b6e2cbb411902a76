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
  { db, kinds, openOutbound, resolveHostOf }: RelayTestDeps,
  relay: ConfiguredRelay,
  settings: RelaySettings,
): Promise<CheckResult> {
  const adapter = kinds.adapterOf(relay.kind);
  if (!adapter) {
    const reason = await probeRelay(smtpUrlOf(settings), {
      withinMs: WITHIN_MS,
      resolveHost: resolveHostOf(relay),
    });
    return reason === null
      ? { ok: true, detail: 'The relay accepted the connection and the sign-in.' }
      : { ok: false, message: redactSecrets(reason, smtpSecrets(settings)), field: null };
  }
  const outbound = openOutbound();
  try {
    return await adapter.check({ settings, outbound, key: relay.id, now: () => db.clock.now() });
  } finally {
    outbound.close();
  }
}
