import type { OutboundAnswer } from '../../../platform/outbound/exchange.ts';
import { normaliseDomainName, invalid } from './domain-name.ts';
import type { SendingDomain, Tracking } from './domain.ts';

/** All paths that are served on a tracking host: the links of emails and the probe. */
export const TRACKING_PATHS = ['/o/', '/c/', '/u/', '/.well-known/beckon/'] as const;

/** Returns the start of the URLs in links. */
export function linksBaseOf({ tracking }: Pick<SendingDomain, 'tracking'>, publicUrl: string): string {
  return tracking?.state === 'working' ? `https://${tracking.host}` : publicUrl;
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const HOST_MAX = 253;
/** Names that hold other records of the domain, so they cannot point to this installation. */
const TAKEN = ['bounce', '_domainkey', '_dmarc'];

/**
 * Creates a tracking host below the sending domain. Recipients see the same domain name in links, and its owner has already proven
 * ownership.
 */
export function newTracking({ name }: Pick<SendingDomain, 'name'>, text: string, now: number): Tracking {
  const host = normaliseDomainName(text);
  const own = host.endsWith(`.${name}`) ? host.slice(0, -name.length - 1) : '';
  if (own === '' || host.length > HOST_MAX || !own.split('.').every((label) => LABEL.test(label)))
    throw invalid(`The tracking host must be a subdomain of ${name}, such as t.${name}`, 'host');
  if (TAKEN.some((label) => own === label || own.endsWith(`.${label}`)))
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
export function missOf(answer: OutboundAnswer, wanted: string): string | null {
  if (answer.ok && answer.status === 200 && answer.answer.trim() === wanted) return null;
  const says = answer.ok
    ? `It responds with ${answer.status}, but not as this installation. It points to another server`
    : answer.detail;
  return says.slice(0, FOUND_LENGTH_MAX);
}

/** A bad minute of the network must not change links. */
const MISSES_MAX = 3;

/** Applies a probe to a tracking host. `miss` is the result of `missOf`. */
export function afterProbe(tracking: Tracking, miss: string | null, now: number): Tracking {
  // Never repeats a value, because other processes detect by it that a probe has happened since.
  const checkedAt = Math.max(now, (tracking.checkedAt ?? 0) + 1);
  const after = { ...tracking, ...verdictOf(tracking, miss, now), checkedAt };
  return { ...after, nextAt: now + waitMs(after, now) };
}

function verdictOf(
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
