import { type Clock, iso } from '../../../platform/time/clock.ts';
import { Fault } from '../../../platform/fault.ts';
import { idMaker } from '../../../platform/ids.ts';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { type DkimKey, freeSlot, type KeyPair, RETIRES_AFTER_MS, encryptKey, type Slot } from './dkim-key.ts';
import { invalid, parseThrottle, readDomainName, type SendingDomain } from './domain.ts';
import { listDomains } from './reads.ts';
import { insertDkimKey, insertDomain } from './store.ts';

const DOMAINS_MAX = 100;
/** Gives people time to publish the records. */
const FIRST_CHECK_AFTER_MS = 60_000;

export type NewDomain = {
  projectId: number;
  name: string;
  throttle?: string | undefined;
  warm?: boolean | undefined;
};
type Deps = { tx: Tx; clock: Clock; encrypter: Encrypter };

/** Adds a domain with its first key. Requires the project lock. */
export async function addDomain(
  { tx, clock, encrypter }: Deps,
  input: NewDomain,
  pair: KeyPair,
): Promise<{ domain: SendingDomain; keys: DkimKey[] }> {
  const { projectId, warm = false } = input;
  const name = readDomainName(input.name);
  const throttle = parseThrottle(input.throttle ?? 'off');
  if ((await listDomains(tx, projectId)).length >= DOMAINS_MAX)
    throw invalid(
      `This project has ${DOMAINS_MAX} domains, which is the maximum. Remove one first`,
      'domain',
    );
  const now = clock.now();
  const domain: SendingDomain = {
    projectId,
    id: idMaker(clock)(),
    name,
    state: 'pending',
    findings: [],
    misses: 0,
    failingSince: null,
    throttle,
    warm,
    warmupFrom: null,
    pausedAt: null,
    pausedReason: null,
    resumedAt: null,
    tracking: null,
    createdAt: now,
    verifiedAt: null,
    checkedAt: null,
    nextCheckAt: now + FIRST_CHECK_AFTER_MS,
  };
  if (!(await insertDomain(tx, domain))) throw alreadyExists(name);
  return { domain, keys: [await addKey({ tx, clock, encrypter }, domain, { pair, slot: 'a' })] };
}

/** Adds a second key, which signs once it is found in DNS. Requires a lock on the row of the domain. */
export async function addSecondKey(
  deps: Deps,
  { domain, keys }: { domain: SendingDomain; keys: DkimKey[] },
  pair: KeyPair,
): Promise<void> {
  const waiting = keys.find(({ state }) => state === 'pending' || state === 'published');
  if (waiting)
    throw conflict(
      `A key rotation of ${domain.name} has already started (${waiting.state}). Publish the new record: beckon domains show ${domain.name}`,
    );
  const slot = freeSlot(keys);
  if (slot === null) throw conflict(stillRetiring(domain, keys));
  await addKey(deps, domain, { pair, slot });
}

async function addKey(
  { tx, clock, encrypter }: Deps,
  { projectId, id }: SendingDomain,
  { pair, slot }: { pair: KeyPair; slot: Slot },
): Promise<DkimKey> {
  const keyId = { projectId, domainId: id, slot };
  const at = clock.now();
  const key = { ...keyId, publicKey: pair.publicKey, createdAt: at, changedAt: at };
  const pending: DkimKey = { ...key, state: 'pending' };
  await insertDkimKey(tx, pending, encryptKey(encrypter, pair.privateKey, keyId));
  return pending;
}

function stillRetiring({ name }: SendingDomain, keys: DkimKey[]): string {
  const since = keys.find(({ state }) => state === 'retiring')?.changedAt ?? 0;
  return `The domain ${name} has two keys: receivers may still look up the previous one until ${iso(since + RETIRES_AFTER_MS)}`;
}

function alreadyExists(name: string): Fault {
  return conflict(
    `This project already has the domain ${name}. Show its DNS records with: beckon domains show ${name}`,
  );
}

function conflict(message: string): Fault {
  return new Fault('conflict', { details: [{ message, field: 'domain' }] });
}
