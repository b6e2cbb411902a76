import { createKey as create, type NewKey, type NewKeyInput, revokeKey as revoke } from './write-key.ts';
import { findKey } from './find-key.ts';
import { lockQueue } from '../queue/queue.ts';
import { findPair } from '../../workspace/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';

/**
 * Creates an API key under the project's queue lock, so that two concurrent requests cannot both take the last slot. A test key requested
 * for a live project is created in its sandbox.
 */
export function createKey(
  deps: { db: Pick<Database, 'transaction' | 'clock'>; pepper: Uint8Array },
  input: NewKeyInput,
): Promise<NewKey & { projectId: number }> {
  return deps.db.transaction(async (tx) => {
    const { projectId, env } = await keyTarget(tx, input);
    await lockQueue(tx, projectId);
    const made = await create(
      { tx, clock: deps.db.clock, pepper: deps.pepper },
      { ...input, projectId, env },
    );
    return { ...made, projectId };
  });
}

type KeyTarget = Required<Pick<NewKeyInput, 'projectId' | 'env'>>;

async function keyTarget(tx: Tx, { projectId, env }: NewKeyInput): Promise<KeyTarget> {
  const { livemode, sandboxOf, sandboxId, isClosed } = await findPair(tx, projectId);
  if (!livemode) {
    if (env === 'live') throw refused(`A sandbox has no live keys. Create one in project ${sandboxOf}`);
    if (isClosed) throw refused(OFF);
    return { projectId, env: 'test' };
  }
  if (env !== 'test') return { projectId, env: 'live' };
  const isOpen = sandboxId !== null && !(await findPair(tx, sandboxId)).isClosed;
  if (!isOpen) throw refused(OFF);
  return { projectId: sandboxId, env };
}

const OFF = 'This project has no sandbox open: set its setting sandbox=on first';

function refused(message: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field: 'env' }] });
}

type RevokedKey = { id: string; label: string; revokedAt: Date };

/**
 * Revokes an API key. The lock of the queue row orders the revocation against the accept flush. When this returns, every request that the
 * key authorized is committed, and no later one will be.
 */
export function revokeKey(
  db: Pick<Database, 'transaction' | 'clock'>,
  { id, projectId }: { id: string; projectId?: number },
): Promise<RevokedKey> {
  return db.transaction(async (tx) => {
    const key = await findKey(tx, id, projectId);
    await lockQueue(tx, key.projectId);
    const { revokedAt } = await revoke({ tx, clock: db.clock }, key);
    return { id: key.id, label: key.label, revokedAt };
  });
}
