import { iso } from '../../base/clock.ts';
import { Fault } from '../../base/fault.ts';
import type { Sealer } from '../../base/seal.ts';
import {
  addDomain as add,
  addSecondKey,
  deleteDomain,
  generateKey,
  listKeys,
  type MailSettings,
  type NewDomain,
  parseThrottle,
  pauseDomain as pause,
  resumeDomain as resume,
  type SendingDomain,
  updateDomain,
} from '../../features/domains/index.ts';
import { takeTurn } from '../../features/turns/index.ts';
import type { Database } from '../../io/db/index.ts';
import { askHeldAgain } from '../ask-held-again.ts';
import { type DomainPlace, type DomainView, requireLocked, viewOf } from './view.ts';

type Db = Pick<Database, 'transaction' | 'clock'>;
type Deps = { db: Db; sealer: Sealer; mail: MailSettings };

/** Somebody is about to publish the new record. */
const LOOK_AFTER_MS = 60_000;

/** With its first key; nothing leaves from it before its records are seen in the DNS. */
export async function addDomain({ db, sealer, mail }: Deps, wanted: NewDomain): Promise<DomainView> {
  // While it is made nobody has to wait.
  const pair = await generateKey();
  return db.transaction(async (tx) => {
    // So that of two that come for the last place one gets it.
    await takeTurn(tx, wanted.projectId);
    const { domain, keys } = await add({ tx, clock: db.clock, sealer }, wanted, pair);
    return viewOf(domain, keys, mail);
  });
}

/** Begins it: the looks at the DNS carry it on once the new key is seen there. */
export async function rotateKey({ db, sealer, mail }: Deps, place: DomainPlace): Promise<DomainView> {
  const pair = await generateKey();
  return db.transaction(async (tx) => {
    const domain = await requireLocked(tx, place);
    const { projectId, id, nextCheckAt } = domain;
    const keys = await listKeys(tx, projectId, [id]);
    await addSecondKey({ tx, clock: db.clock, sealer }, { domain, keys }, pair);
    const soon = db.clock.now() + LOOK_AFTER_MS;
    const looking = { ...domain, nextCheckAt: Math.min(nextCheckAt ?? soon, soon) };
    await updateDomain(tx, looking);
    return viewOf(looking, await listKeys(tx, projectId, [id]), mail);
  });
}

/** Letters that would leave from it are held from now on. */
export function removeDomain(db: Pick<Db, 'transaction'>, place: DomainPlace): Promise<SendingDomain> {
  return db.transaction(async (tx) => {
    const domain = await requireLocked(tx, place);
    await deleteDomain(tx, domain);
    return domain;
  });
}

/** By a person: letters that would leave from it are held until one lets it go on. */
export function pauseDomain(
  { db, mail }: Pick<Deps, 'db' | 'mail'>,
  place: DomainPlace,
  reason: string,
): Promise<DomainView> {
  return db.transaction(async (tx) => {
    const domain = await requireLocked(tx, place);
    if (domain.pausedAt !== null) throw isPaused(domain);
    const { projectId, id } = domain;
    const at = db.clock.now();
    await pause(tx, { projectId, id, reason, at });
    return viewOf(
      { ...domain, pausedAt: at, pausedReason: reason },
      await listKeys(tx, projectId, [id]),
      mail,
    );
  });
}

function isPaused({ name, pausedAt, pausedReason }: SendingDomain): Fault {
  const message = `The domain ${name} has been paused since ${iso(pausedAt ?? 0)}: ${pausedReason ?? ''}`;
  return new Fault('conflict', { details: [{ message, field: 'domain' }] });
}

/** Letters may leave from it again, and what was refused before counts no more. Whether it was paused. */
export function resumeDomain(
  db: Db,
  place: DomainPlace,
): Promise<{ domain: SendingDomain; wasPaused: boolean; asked: number }> {
  return db.transaction(async (tx) => {
    const domain = await requireLocked(tx, place);
    const now = db.clock.now();
    const { projectId, id } = domain;
    const wasPaused = await resume(tx, { projectId, id, at: now });
    const asked = wasPaused ? await askHeldAgain(tx, { projectId, reasons: ['domain_not_ready'], now }) : 0;
    return { domain, wasPaused, asked };
  });
}

export type DomainChange = { throttle?: string | undefined; warm?: boolean | undefined };

/** How fast letters leave from it. Those who wait for the old speed are asked again. */
export function setDomain(
  { db, mail }: Pick<Deps, 'db' | 'mail'>,
  place: DomainPlace,
  change: DomainChange,
): Promise<DomainView> {
  return db.transaction(async (tx) => {
    const now = db.clock.now();
    const domain = withChange(await requireLocked(tx, place), change, now);
    const { projectId, id } = domain;
    await updateDomain(tx, domain);
    await askHeldAgain(tx, { projectId, reasons: ['domain_throttle', 'warmup'], now });
    return viewOf(domain, await listKeys(tx, projectId, [id]), mail);
  });
}

function withChange(domain: SendingDomain, { throttle, warm }: DomainChange, now: number): SendingDomain {
  const changed = throttle === undefined ? domain : { ...domain, throttle: parseThrottle(throttle) };
  if (warm === undefined || warm === domain.warm) return changed;
  // One that was never verified begins when it is.
  return { ...changed, warm, warmupFrom: warm || domain.verifiedAt === null ? null : now };
}
