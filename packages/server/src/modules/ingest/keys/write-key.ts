import { API_KEYS_MAX_ACTIVE } from '@beckon/contract';
import { randomBytes } from 'node:crypto';
import { checkLabel, displayKey, hashSecret, type KeyEnvironment, newSecret, SALT_BYTES } from './key.ts';
import { countActive, insertKey, updateRevoked } from './store.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';
import { idMaker } from '../../../platform/ids.ts';
import type { Clock } from '../../../platform/time/clock.ts';

/** `createdBy` is null for a command. */
export type NewKeyInput = {
  projectId: number;
  label: string;
  /** Defaults to the environment of the project. */
  env?: KeyEnvironment;
  createdBy?: string | null;
};

export type NewKey = { id: string; secret: string; display: string };

/**
 * Creates a key and returns its secret, which is available only here. For an exact limit the caller must hold the project's queue lock.
 * Without it, two concurrent calls may both pass the check.
 */
export async function createKey(
  deps: { tx: Tx; clock: Clock; pepper: Uint8Array },
  { projectId, label, env = 'live', createdBy = null }: NewKeyInput,
): Promise<NewKey> {
  checkLabel(label);
  if ((await countActive(deps.tx, projectId)) >= API_KEYS_MAX_ACTIVE) throw tooMany();
  const id = idMaker(deps.clock)();
  const secret = newSecret(env);
  const last4 = secret.slice(-4);
  const salt = randomBytes(SALT_BYTES);
  const hash = hashSecret(deps.pepper, salt, secret);
  const createdAt = new Date(deps.clock.now());
  await insertKey(deps.tx, {
    id,
    env,
    last4,
    project_id: projectId,
    label,
    salt,
    hash,
    createdAt,
    createdBy,
  });
  return { id, secret, display: displayKey(env, last4) };
}

function tooMany(): Fault {
  const message = `This project has ${API_KEYS_MAX_ACTIVE} active keys, the most it may have: revoke one that is no longer used`;
  return new Fault('validation_failed', { details: [{ message }] });
}

/**
 * Revokes a key for good. The caller must hold the queue lock of the key's project, so that this comes before or after a flush as a whole.
 */
export async function revokeKey(
  deps: { tx: Tx; clock: Clock },
  key: { last4: string; id: string },
): Promise<{ revokedAt: Date }> {
  const at = new Date(deps.clock.now());
  return { revokedAt: (await updateRevoked(deps.tx, { ...key, at })) ?? at };
}
