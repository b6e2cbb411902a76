import { createEncrypter } from '../../src/platform/crypto/encrypt.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { idMaker } from '../../src/platform/ids.ts';
import { silentLog } from '../../src/platform/log.ts';
import { createOutbound } from '../../src/platform/outbound/outbound.ts';
import type { RelayKind, RelaySettings } from '../../src/platform/relays/adapter.ts';
import { RELAY_ADAPTERS } from '../../src/platform/relays/adapters.ts';
import { relayKinds } from '../../src/platform/relays/kinds.ts';
import { relayOpener } from '../../src/modules/delivery/open-relay.ts';
import type { OpenRelayTransport } from '../../src/modules/delivery/transport.ts';
import { addRelay, useRelay } from '../../src/modules/sending/relays/change-relay.ts';
import type { RelayId } from '../../src/modules/sending/relays/relay.ts';
import { TOKEN_KEYS } from './send-services.ts';

const encrypter = createEncrypter('a secret of this test alone', null, 'test');

const kinds = relayKinds(Object.values(RELAY_ADAPTERS));

/** Opens relays of projects at any address. */
export function testRelayOpener(db: Database): OpenRelayTransport {
  return relayOpener({
    db,
    log: silentLog,
    encrypter,
    tokenKeys: TOKEN_KEYS,
    kinds,
    outbound: createOutbound({ allowPrivate: true, totalMs: 2_000 }),
    // The hosts of providers lead to this machine.
    resolveHostOf: () => (host) => Promise.resolve(host.endsWith('.com') ? '127.0.0.1' : host),
  });
}

export function relayDeps(db: Database) {
  return { db, encrypter, kinds, newId: idMaker(db.clock) };
}

/** The settings of an SMTP relay on this machine. */
export const smtpSettings = (port: number): RelaySettings => ({
  host: '127.0.0.1',
  port: String(port),
  encryption: 'none',
});

type NewTestRelay = { projectId: number; name: string; domain?: string };

/** Adds a relay of a project, and uses it for a domain or for the whole project. */
export async function addTestRelay(
  db: Database,
  { projectId, name, domain = '' }: NewTestRelay,
  { kind, settings }: { kind: RelayKind; settings: RelaySettings },
): Promise<RelayId> {
  const deps = relayDeps(db);
  const relay = await addRelay(deps, { projectId, kind, name, settings });
  await useRelay(deps, { projectId, domain, relay });
  return relay;
}

export function addSmtpRelay(
  db: Database,
  { port, ...relay }: NewTestRelay & { port: number },
): Promise<RelayId> {
  return addTestRelay(db, relay, { kind: 'smtp', settings: smtpSettings(port) });
}
