import { randomBytes } from 'node:crypto';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { Database } from '../../../platform/db/database.ts';
import { Fault } from '../../../platform/fault.ts';
import type { NewId } from '../../../platform/ids.ts';
import type { RelaySettings } from '../../../platform/relays/adapter.ts';
import { splitSecrets } from '../../../platform/relays/kinds.ts';
import { readSettings } from '../../../platform/relays/settings.ts';
import {
  isSameAccount,
  isSameFolder,
  REPLY_SOURCE_KINDS,
  type ReplySourceKindInfo,
  SOURCE_SECRET,
} from './kinds.ts';
import { lockSource, type SourceWithSecrets } from './reads.ts';
import { decryptSource, encryptSource } from './secrets.ts';
import { deleteSource, updateSource, upsertSource } from './store.ts';

export type ChangeSourceDeps = {
  db: Pick<Database, 'transaction' | 'clock'>;
  encrypter: Encrypter;
  newId: NewId;
};

type SourceInput = { projectId: number; kind: string; settings: RelaySettings };

const SECRET_BYTES = 24;

/**
 * Sets the reply source of a project. A source of the same kind keeps its address. The same account keeps the secrets that are left out,
 * and the same folder keeps its position.
 */
export async function setSource(
  { db, encrypter, newId }: ChangeSourceDeps,
  { projectId, kind, settings: input }: SourceInput,
): Promise<void> {
  const info = REPLY_SOURCE_KINDS.find((known) => known.kind === kind);
  if (!info) throw unknownKind(kind);
  await db.transaction(async (tx) => {
    const existing = await lockSource(tx, projectId);
    const kept = existing?.source.kind === kind ? existing : undefined;
    const before = kept ? decryptSource(encrypter, kept) : {};
    const stored = isSameAccount(before, input) ? secretsOf(info, before) : {};
    const values = checkedValues(info, { ...stored, ...input });
    const generated = {
      [SOURCE_SECRET]: before[SOURCE_SECRET] ?? randomBytes(SECRET_BYTES).toString('base64url'),
    };
    const { settings, secrets } = splitSecrets(info.fields, { ...values, ...generated });
    const at = db.clock.now();
    const nextReadAt = info.kind === 'imap' ? at : null;
    const id = keptId(kept, values) ?? newId();
    const encrypted = encryptSource(encrypter, secrets, { projectId, id });
    const changed = { projectId, settings, encrypted, at, nextReadAt };
    if (kept?.source.id === id) await updateSource(tx, changed);
    else await upsertSource(tx, { ...changed, id, kind: info.kind });
  });
}

/** A mailbox with another folder is a new source, because its position means other emails. */
function keptId(kept: SourceWithSecrets | undefined, values: RelaySettings): string | null {
  if (!kept) return null;
  const { source } = kept;
  return source.kind !== 'imap' || isSameFolder(source.settings, values) ? source.id : null;
}

/** Returns the secrets of the form. An empty value in the input replaces them. */
function secretsOf({ fields }: ReplySourceKindInfo, values: RelaySettings): Record<string, string> {
  const names = new Set(fields.flatMap(({ name, isSecret }) => (isSecret ? [name] : [])));
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
}

function checkedValues(info: ReplySourceKindInfo, input: RelaySettings): RelaySettings {
  const read = readSettings(info, input);
  if (read.ok) return read.settings;
  throw new Fault('validation_failed', { details: read.errors });
}

/** Deletes the source of a project. Its mailbox stays as it is. */
export async function removeSource({ db }: Pick<ChangeSourceDeps, 'db'>, projectId: number): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await lockSource(tx, projectId))) throw noSource();
    await deleteSource(tx, projectId);
  });
}

export function noSource(): Fault {
  const message = 'This project has no reply source. Add one: beckon replies source set imap';
  return new Fault('not_found', { details: [{ message, field: 'source' }] });
}

function unknownKind(kind: string): Fault {
  const kinds = REPLY_SOURCE_KINDS.map((info) => info.kind).join(', ');
  const message = `Unknown kind ${JSON.stringify(kind)}. Use one of ${kinds}`;
  return new Fault('validation_failed', { details: [{ message, field: 'kind' }] });
}
