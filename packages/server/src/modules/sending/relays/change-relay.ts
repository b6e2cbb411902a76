import { randomBytes } from 'node:crypto';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';
import type { NewId } from '../../../platform/ids.ts';
import { setTimersEarlier } from '../../../platform/locks/timers.ts';
import type { RelaySettings } from '../../../platform/relays/adapter.ts';
import type { RelayKindInfo } from '../../../platform/relays/kind-info.ts';
import { type RelayKinds, splitSecrets } from '../../../platform/relays/kinds.ts';
import { HOOK_SECRET } from '../../../platform/relays/fields.ts';
import { readSettings } from '../../../platform/relays/settings.ts';
import { isId } from '../../workspace/index.ts';
import { findDomain } from '../domains/reads.ts';
import { setChecksDue } from '../domains/store.ts';
import { normaliseDomainName } from '../domains/domain.ts';
import {
  findEncryptedSecrets,
  findSmtpUrlRelay,
  listRelays,
  listUses,
  lockRelay,
  type RelayUse,
} from './reads.ts';
import { type ConfiguredRelay, INSTALLATION, type RelayId, WHOLE_PROJECT } from './relay.ts';
import { decryptSecrets, encryptSecrets } from './secrets.ts';
import {
  deleteAssignment,
  deleteRelay,
  insertRelay,
  updateName,
  updateSettings,
  upsertAssignment,
} from './store.ts';

export type ChangeDeps = {
  db: Pick<Database, 'transaction' | 'clock'>;
  encrypter: Encrypter;
  kinds: RelayKinds;
};

const RELAYS_MAX = 50;
const HOOK_SECRET_BYTES = 24;
const USES_SHOWN = 10;

export type RelayInput = { projectId: number; kind: string; name: string; settings: RelaySettings };

/** Adds a relay. It sends nothing until it is used by a project or a domain. */
export async function addRelay(
  { db, encrypter, kinds, newId }: ChangeDeps & { newId: NewId },
  { projectId, kind, name, settings: input }: RelayInput,
): Promise<RelayId> {
  const info = kinds.of(kind);
  if (!info)
    throw invalid(
      `Unknown kind ${JSON.stringify(kind)}. Use one of ${kinds.list.map((known) => known.kind).join(', ')}`,
      'kind',
    );
  if (info.kind === 'smtp_url' && projectId !== INSTALLATION)
    throw invalid('The feedback of SMTP_URL belongs to the installation. Set `installation`', 'kind');
  const full = kinds.of(kind, input) ?? info;
  const values = checkedSettings(full, input);
  const id = newId();
  const { settings, secrets } = splitSecrets(full.fields, values);
  // The provider proves itself with it when it reports outcomes.
  const hookSecret = { [HOOK_SECRET]: randomBytes(HOOK_SECRET_BYTES).toString('base64url') };
  const encrypted = encryptSecrets(encrypter, { ...secrets, ...hookSecret }, { projectId, id });
  await db.transaction(async (tx) => {
    if ((await listRelays(tx, projectId)).length >= RELAYS_MAX)
      throw invalid(`There are ${RELAYS_MAX} relays, which is the maximum. Delete one first`, 'name');
    if (info.kind === 'smtp_url' && (await findSmtpUrlRelay(tx)))
      throw conflict('The feedback of SMTP_URL was already added. Change it instead', 'kind');
    const relay = { projectId, id, kind: info.kind, name: name.trim(), settings, encrypted };
    if (!(await insertRelay(tx, { ...relay, createdAt: db.clock.now() }))) throw nameTaken(name);
  });
  return { projectId, id };
}

export type RelayChange = { name?: string | undefined; settings?: RelaySettings | undefined };

/** Changes a relay. Emails that are claimed from now on are sent with the new settings; workers need no restart. */
export async function changeRelay(
  { db, encrypter, kinds }: ChangeDeps,
  ref: RelayId,
  { name, settings }: RelayChange,
): Promise<void> {
  await db.transaction(async (tx) => {
    const relay = await requireLockedRelay(tx, ref);
    if (settings) {
      const at = db.clock.now();
      await replaceSettings({ tx, encrypter, kinds, at }, relay, settings);
      await setChecksDue(tx, { projectId: relay.projectId, domain: null, at });
    }
    if (name !== undefined && !(await updateName(tx, { ...ref, name: name.trim() }))) throw nameTaken(name);
  });
}

type ReplaceDeps = { tx: Tx; encrypter: Encrypter; kinds: RelayKinds; at: number };

async function replaceSettings(
  { tx, encrypter, kinds, at }: ReplaceDeps,
  relay: ConfiguredRelay,
  changes: RelaySettings,
): Promise<void> {
  const info = kinds.of(relay.kind, { ...relay.settings, ...changes });
  const encryptedNow = await findEncryptedSecrets(tx, relay);
  if (!info || !encryptedNow) throw unknownRelay(relay.id);
  const stored = { ...relay.settings, ...decryptSecrets(encrypter, encryptedNow, relay) };
  const isField = (name: string): boolean => info.fields.some((field) => field.name === name);
  const entries = Object.entries(stored);
  const values = checkedSettings(info, {
    ...Object.fromEntries(entries.filter(([name]) => isField(name))),
    ...changes,
  });
  // The generated secret belongs to the feedback of the relay and not to its form. Fields of a former host are dropped.
  const others = Object.fromEntries(entries.filter(([name]) => name === HOOK_SECRET));
  const { settings, secrets } = splitSecrets(info.fields, { ...others, ...values });
  const encrypted = encryptSecrets(encrypter, secrets, relay);
  await updateSettings(tx, { projectId: relay.projectId, id: relay.id, settings, encrypted, at });
}

/** Deletes a relay that is not in use. */
export async function removeRelay(
  { db }: Pick<ChangeDeps, 'db'>,
  ref: RelayId,
  name: string,
): Promise<ConfiguredRelay> {
  return db.transaction(async (tx) => {
    const relay = await requireLockedRelay(tx, ref);
    if (name !== relay.name) throw invalid(`Enter the name of the relay to delete it: ${relay.name}`, 'name');
    const uses = (await listUses(tx, { ...ref, limit: USES_SHOWN })).map(useText);
    if (uses.length > 0)
      throw conflict(`${relay.name} is used by ${uses.join(', ')}. Use another relay there first`, 'relay');
    await deleteRelay(tx, ref);
    return relay;
  });
}

function useText({ projectId, domain }: RelayUse): string {
  if (projectId === INSTALLATION) return 'the installation';
  return domain === WHOLE_PROJECT ? `project ${projectId}` : domain;
}

/** `domain`: empty for the whole project. `relay`: null for the relay that would be used otherwise. */
export type UseInput = { projectId: number; domain: string; relay: RelayId | null };

/** Decides the relay of emails that are not claimed yet. Emails that are being sent are not affected. */
export async function useRelay(
  { db }: Pick<ChangeDeps, 'db'>,
  { projectId, domain: name, relay }: UseInput,
): Promise<void> {
  await db.transaction(async (tx) => {
    const domain = name === WHOLE_PROJECT ? name : await requireDomainName(tx, projectId, name);
    if (relay === null) await deleteAssignment(tx, { projectId, domain });
    else {
      const { kind } = await requireLockedRelay(tx, relay);
      if (kind === 'smtp_url')
        throw invalid('SMTP_URL sends whatever has no other relay. Use the relay `default` instead', 'relay');
      await upsertAssignment(tx, { projectId, domain, relay });
    }
    if (projectId === INSTALLATION) return;
    const at = db.clock.now();
    // Drafts that waited for the former relay are checked now.
    await setTimersEarlier(tx, 'send', [{ projectId, nextAt: new Date(at) }]);
    await setChecksDue(tx, { projectId, domain: domain === WHOLE_PROJECT ? null : domain, at });
  });
}

async function requireDomainName(tx: Tx, projectId: number, text: string): Promise<string> {
  const domain = await findDomain(tx, { projectId, name: normaliseDomainName(text) });
  if (domain) return domain.name;
  throw invalid(`${text} is not a sending domain of this project. List them: beckon domains list`, 'domain');
}

async function requireLockedRelay(tx: Tx, ref: RelayId): Promise<ConfiguredRelay> {
  const relay = isId(ref.id) ? await lockRelay(tx, ref) : undefined;
  if (!relay) throw unknownRelay(ref.id);
  return relay;
}

/** Returns the values of the fields, or throws the errors of all fields. */
function checkedSettings(info: RelayKindInfo, input: RelaySettings): RelaySettings {
  const read = readSettings(info, input);
  if (read.ok) return read.settings;
  throw new Fault('validation_failed', { details: read.errors });
}

export function unknownRelay(id: string): Fault {
  return new Fault('not_found', {
    details: [{ message: `Unknown relay ${id}. List relays: beckon relays list`, field: 'relay' }],
  });
}

function nameTaken(name: string): Fault {
  return conflict(`There is already a relay named ${name.trim()}. Choose another name`, 'name');
}

function invalid(message: string, field: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}

function conflict(message: string, field: string): Fault {
  return new Fault('conflict', { details: [{ message, field }] });
}
