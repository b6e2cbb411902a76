import { iso } from '../../../platform/time/clock.ts';
import { Fault } from '../../../platform/fault.ts';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import { addDomain as add, addSecondKey, type NewDomain } from './add-domain.ts';
import { deleteDomain, pauseDomain as pause, resumeDomain as resume, updateDomain } from './store.ts';
import { generateKey } from './dkim-key.ts';
import { listKeys } from './reads.ts';
import { type MailSettings, parseThrottle, type SendingDomain } from './domain.ts';
import { takeProjectLock } from '../../../platform/locks/project-lock.ts';
import type { Database } from '../../../platform/db/database.ts';
import { recheckHeld } from '../../drafts/index.ts';
import { deleteAssignment } from '../relays/store.ts';
import { type DomainRef, type DomainView, requireLocked, viewInProject } from './domain-view.ts';

type Db = Pick<Database, 'transaction' | 'clock'>;
type Deps = { db: Db; encrypter: Encrypter; mail: MailSettings };

/** The member is about to publish the new record, so it is checked soon. */
const LOOK_AFTER_MS = 60_000;

/** Adds a domain with its first key. No email is sent from it before its records are seen in the DNS. */
export async function addDomain({ db, encrypter, mail }: Deps, input: NewDomain): Promise<DomainView> {
  // The key is generated before the transaction, so that no other request waits for it.
  const pair = await generateKey();
  return db.transaction(async (tx) => {
    // The lock ensures that only one of two concurrent requests gets the last slot.
    await takeProjectLock(tx, input.projectId);
    const { domain } = await add({ tx, clock: db.clock, encrypter }, input, pair);
    return viewInProject(tx, domain, mail);
  });
}

/** Starts a key rotation. The DNS checks continue it once they see the new key. */
export async function rotateKey({ db, encrypter, mail }: Deps, ref: DomainRef): Promise<DomainView> {
  const pair = await generateKey();
  return db.transaction(async (tx) => {
    const domain = await requireLocked(tx, ref);
    const { projectId, id, nextCheckAt } = domain;
    const keys = await listKeys(tx, projectId, [id]);
    await addSecondKey({ tx, clock: db.clock, encrypter }, { domain, keys }, pair);
    const soon = db.clock.now() + LOOK_AFTER_MS;
    const checkedSoon = { ...domain, nextCheckAt: Math.min(nextCheckAt ?? soon, soon) };
    await updateDomain(tx, checkedSoon);
    return viewInProject(tx, checkedSoon, mail);
  });
}

/** Removes a domain. Emails from it are held from now on. */
export function removeDomain(db: Pick<Db, 'transaction'>, ref: DomainRef): Promise<SendingDomain> {
  return db.transaction(async (tx) => {
    const domain = await requireLocked(tx, ref);
    await deleteDomain(tx, domain);
    await deleteAssignment(tx, { projectId: domain.projectId, domain: domain.name });
    return domain;
  });
}

/** Pauses a domain on a member's request. Emails from it are held until a member resumes it. */
export function pauseDomain(
  { db, mail }: Pick<Deps, 'db' | 'mail'>,
  ref: DomainRef,
  reason: string,
): Promise<DomainView> {
  return db.transaction(async (tx) => {
    const domain = await requireLocked(tx, ref);
    if (domain.pausedAt !== null) throw isPaused(domain);
    const { projectId, id } = domain;
    const at = db.clock.now();
    await pause(tx, { projectId, id, reason, at });
    return viewInProject(tx, { ...domain, pausedAt: at, pausedReason: reason }, mail);
  });
}

function isPaused({ name, pausedAt, pausedReason }: SendingDomain): Fault {
  const message = `The domain ${name} has been paused since ${iso(pausedAt ?? 0)}: ${pausedReason ?? ''}`;
  return new Fault('conflict', { details: [{ message, field: 'domain' }] });
}

/** Resumes sending from a domain. Rejections from before no longer count. `wasPaused` reports its previous state. */
export function resumeDomain(
  db: Db,
  ref: DomainRef,
): Promise<{ domain: SendingDomain; wasPaused: boolean; retried: number }> {
  return db.transaction(async (tx) => {
    const domain = await requireLocked(tx, ref);
    const now = db.clock.now();
    const { projectId, id } = domain;
    const wasPaused = await resume(tx, { projectId, id, at: now });
    const retried = wasPaused ? await recheckHeld(tx, { projectId, reasons: ['domain_not_ready'], now }) : 0;
    return { domain, wasPaused, retried };
  });
}

export type DomainChange = { throttle?: string | undefined; warm?: boolean | undefined };

/** Changes the sending speed of a domain. Drafts that wait because of the old limits are checked again. */
export function setDomain(
  { db, mail }: Pick<Deps, 'db' | 'mail'>,
  ref: DomainRef,
  change: DomainChange,
): Promise<DomainView> {
  return db.transaction(async (tx) => {
    const now = db.clock.now();
    const domain = withChange(await requireLocked(tx, ref), change, now);
    const { projectId } = domain;
    await updateDomain(tx, domain);
    await recheckHeld(tx, { projectId, reasons: ['domain_throttle', 'warmup'], now });
    return viewInProject(tx, domain, mail);
  });
}

function withChange(domain: SendingDomain, { throttle, warm }: DomainChange, now: number): SendingDomain {
  const changed = throttle === undefined ? domain : { ...domain, throttle: parseThrottle(throttle) };
  if (warm === undefined || warm === domain.warm) return changed;
  // A domain that was never verified starts its warm-up when it is verified.
  return { ...changed, warm, warmupFrom: warm || domain.verifiedAt === null ? null : now };
}
