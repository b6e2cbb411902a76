import {
  invalid,
  type MailSettings,
  normaliseDomainName,
  type SendingDomain,
  type Tracking,
  type TrackingState,
} from './domain.ts';
import { type DomainRef, type DomainView, requireLocked, viewInProject } from './domain-view.ts';
import { findDomainById, listTrackingHosts, lockDomain } from './reads.ts';
import { updateTracking } from './store.ts';
import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import { equalInConstantTime, hmacSha256 } from '../../../platform/crypto/hash.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Log } from '../../../platform/log.ts';
import type { OutboundResponse } from '../../../platform/outbound/exchange.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';

type Db = Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;

/**
 * Sets the tracking host of a domain. With null, links use the installation's own address again, from the next email on. Setting the same
 * host again schedules a new check.
 */
export function trackDomain(
  { db, mail }: { db: Pick<Db, 'transaction' | 'clock'>; mail: MailSettings },
  ref: DomainRef,
  host: string | null,
): Promise<DomainView> {
  return db.transaction(async (tx) => {
    const domain = await requireLocked(tx, ref);
    const now = db.clock.now();
    const requested = host === null ? null : newTracking(domain, host, now);
    const isSame = requested !== null && domain.tracking?.host === requested.host;
    const tracking = isSame && domain.tracking ? { ...domain.tracking, nextAt: now } : requested;
    const tracked = { ...domain, tracking };
    await updateTracking(tx, tracked);
    return viewInProject(tx, tracked, mail);
  });
}

type ProbeDeps = { db: Db; outbound: Pick<Outbound, 'get'>; tokenKeys: TokenKeys };

/** `before`: the previous state. */
type Probed = { domain: SendingDomain; before: TrackingState; after: TrackingState };

/**
 * Requests from the tracking host an answer that only this installation can give, outside any transaction. Returns null if there is no such
 * host any more. Only one of two concurrent probes counts.
 */
export async function probeDomain(
  { db, outbound, tokenKeys }: ProbeDeps,
  ref: Pick<SendingDomain, 'projectId' | 'id'>,
): Promise<Probed | null> {
  const snapshot = (await findDomainById(db, ref))?.tracking;
  if (!snapshot) return null;
  const token = probeToken({ ...ref, host: snapshot.host }, tokenKeys);
  const url = `https://${snapshot.host}/.well-known/beckon/${token}`;
  const response = await outbound.get({ url, headers: {}, key: `tracking ${snapshot.host}` });
  const miss = missOf(response, probeResponse(token, tokenKeys) ?? '');
  return db.transaction(async (tx) => {
    const domain = await lockDomain(tx, ref);
    if (!domain?.tracking) return null;
    const { tracking } = domain;
    const isOutrun = tracking.host !== snapshot.host || tracking.checkedAt !== snapshot.checkedAt;
    if (isOutrun) return { domain, before: tracking.state, after: tracking.state };
    const after = afterProbe(tracking, miss, db.clock.now());
    await updateTracking(tx, { ...domain, tracking: after });
    return { domain: { ...domain, tracking: after }, before: tracking.state, after: after.state };
  });
}

/** All paths that are served on a tracking host: the links of emails and the probe. */
export const TRACKING_PATHS = ['/o/', '/c/', '/u/', '/.well-known/beckon/'] as const;

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const HOST_MAX = 253;
/** Names that hold other records of the domain, so they cannot point to this installation. */
const RESERVED = ['bounce', '_domainkey', '_dmarc'];

/**
 * Creates a tracking host below the sending domain. Recipients see the same domain name in links, and its owner has already proven
 * ownership.
 */
export function newTracking({ name }: Pick<SendingDomain, 'name'>, text: string, now: number): Tracking {
  const host = normaliseDomainName(text);
  const subdomain = host.endsWith(`.${name}`) ? host.slice(0, -name.length - 1) : '';
  if (subdomain === '' || host.length > HOST_MAX || !subdomain.split('.').every((label) => LABEL.test(label)))
    throw invalid(`The tracking host must be a subdomain of ${name}, such as t.${name}`, 'host');
  if (RESERVED.some((label) => subdomain === label || subdomain.endsWith(`.${label}`)))
    throw invalid(
      `${host} is used by DNS records of the domain itself. Use another, such as t.${name}`,
      'host',
    );
  return {
    host,
    state: 'pending',
    found: null,
    misses: 0,
    since: now,
    workedAt: null,
    checkedAt: null,
    nextAt: now,
  };
}

const FOUND_LENGTH_MAX = 300;

/** Returns null if the host answers as only this installation can, and otherwise a description of the failure. */
export function missOf(response: OutboundResponse, expected: string): string | null {
  if (response.ok && response.status === 200 && response.body.trim() === expected) return null;
  const says = response.ok
    ? `It responds with ${response.status}, but not as this installation. It points to another server`
    : response.detail;
  return says.slice(0, FOUND_LENGTH_MAX);
}

/** A bad minute of the network must not change links. */
const MISSES_MAX = 3;

/** Applies a probe to a tracking host. `miss` is the result of `missOf`. */
export function afterProbe(tracking: Tracking, miss: string | null, now: number): Tracking {
  // Never repeats a value, because other processes detect by it that a probe has happened since.
  const checkedAt = Math.max(now, (tracking.checkedAt ?? 0) + 1);
  const after = { ...tracking, ...probeResult(tracking, miss, now), checkedAt };
  return { ...after, nextAt: now + waitMs(after, now) };
}

function probeResult(
  { state, misses: before, since, workedAt }: Tracking,
  miss: string | null,
  now: number,
): Pick<Tracking, 'state' | 'misses' | 'found' | 'since' | 'workedAt'> {
  if (miss === null) return { state: 'working', misses: 0, found: null, since, workedAt: workedAt ?? now };
  const misses = before + 1;
  const hasFailed = misses >= MISSES_MAX;
  const stopped = hasFailed && state === 'working';
  return { state: hasFailed ? 'failed' : state, misses, found: miss, since: stopped ? now : since, workedAt };
}

const SOONEST_MS = 60_000;
const HOUR_MS = 3_600_000;
const WORKING_EVERY_MS = 10 * 60_000;
const EAGER_FOR_MS = 72 * HOUR_MS;
const DAY_MS = 24 * HOUR_MS;

/** Returns the wait until the next probe. A first miss is repeated soon. After three days, a member is probably no longer working on it. */
function waitMs({ state, misses, since }: Tracking, now: number): number {
  if (state === 'working') return misses === 0 ? WORKING_EVERY_MS : SOONEST_MS;
  const forMs = now - since;
  return forMs >= EAGER_FOR_MS ? DAY_MS : Math.min(HOUR_MS, Math.max(SOONEST_MS, Math.floor(forMs / 4)));
}

type ProbeTarget = Pick<SendingDomain, 'projectId' | 'id'> & { host: string };

const SIGNATURE_BYTES = 16;
const TOKEN = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{22})$/;

/**
 * Returns the token of a request that this installation sends to itself through a tracking host. It contains the project, the domain and the host with
 * a signature. Its answer is another signature, which only an owner of the key can compute. A server that returns the token does not pass,
 * a self-made token gets no answer, and neither needs a database query.
 */
export function probeToken({ projectId, id, host }: ProbeTarget, [key]: TokenKeys): string {
  const payload = sign(key, 'place', `${projectId}\n${id}\n${host}`);
  return `${payload}.${sign(key, 'question', payload)}`;
}

/** Returns the answer, or null for a token that this installation did not create. */
export function probeResponse(token: string, keys: TokenKeys): string | null {
  const [, payload, signature] = TOKEN.exec(token) ?? [];
  if (payload === undefined || signature === undefined) return null;
  const signatureBytes = Buffer.from(signature);
  const key = keys.find((candidate) =>
    equalInConstantTime(signatureBytes, Buffer.from(sign(candidate, 'question', payload))),
  );
  return key ? sign(key, 'answer', payload) : null;
}

function sign(key: Uint8Array, use: 'place' | 'question' | 'answer', text: string): string {
  return hmacSha256(key, `tracking ${use}\n`, text).subarray(0, SIGNATURE_BYTES).toString('base64url');
}

/** The proven tracking hosts of all projects. A change is visible within a minute. */
type TrackingHosts = { has: (host: string) => boolean };

const FRESH_FOR_MS = 60_000;
const HOSTS_MAX = 100_000;

/** Answers from memory. A request that finds the list older than a minute starts a refresh without waiting for it. */
export function createTrackingHosts(
  db: Pick<Database, 'query' | 'prepared' | 'clock'>,
  log: Log,
): TrackingHosts {
  let hosts: ReadonlySet<string> = new Set();
  let freshUntil = 0;

  function refresh(now: number): void {
    freshUntil = now + FRESH_FOR_MS;
    listTrackingHosts(db, HOSTS_MAX).then(
      (found) => (hosts = new Set(found)),
      (error: unknown) => log.warn({ err: error }, 'tracking_hosts.not_read'),
    );
  }

  return {
    has(host) {
      const now = db.clock.now();
      if (now >= freshUntil) refresh(now);
      return hosts.has(host);
    },
  };
}
