import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { RelaySettings } from '../../../platform/relays/adapter.ts';
import { isId } from '../../workspace/index.ts';
import { unknownRelay } from './change-relay.ts';
import { findRelay, findRelayById } from './reads.ts';
import { type ConfiguredRelay, INSTALLATION, type RelayId } from './relay.ts';
import { decryptSecrets } from './secrets.ts';

/** Finds a relay by the id in the address of its webhook, with all its settings. */
export async function findRelayWithSecrets(
  { db, encrypter }: { db: Tx; encrypter: Encrypter },
  id: string,
): Promise<{ relay: ConfiguredRelay; settings: RelaySettings } | undefined> {
  const found = await findRelayById(db, id);
  if (!found) return undefined;
  const { relay, encrypted } = found;
  return { relay, settings: { ...relay.settings, ...decryptSecrets(encrypter, encrypted, relay) } };
}

/** Finds a relay that emails of a project may be sent through: its own, or one of the installation. */
export async function findUsableRelay(tx: Tx, { projectId, id }: RelayId): Promise<ConfiguredRelay> {
  const relay = isId(id)
    ? ((await findRelay(tx, { projectId, id })) ?? (await findRelay(tx, { projectId: INSTALLATION, id })))
    : undefined;
  if (!relay) throw unknownRelay(id);
  return relay;
}
