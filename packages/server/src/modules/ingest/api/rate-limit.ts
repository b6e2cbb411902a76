import type { Grant } from '../../../platform/rate-limits/bucket.ts';
import type { HeaderList } from '../../../platform/http/answers.ts';

/**
 * Returns the two fields of draft-ietf-httpapi-ratelimit-headers: `q` requests every `w` seconds; `r` left now, the next one in `t`
 * seconds. `Retry-After` comes with the fault of a refusal; the counter ensures that it is never earlier than `t`.
 */
export function rateLimitHeaders(name: string, { limit }: Grant): HeaderList {
  const left = `"${name}";r=${limit.remaining};t=${limit.resetS}`;
  return ['RateLimit-Policy', policyOf(name, limit.rate), 'RateLimit', left];
}

/** Rates differ between projects, but only a few are in use at once. Above this number the cache is emptied. */
const POLICIES_MAX = 1_000;
const policies = new Map<number, Map<string, string>>();

function policyOf(name: string, rate: number): string {
  let byName = policies.get(rate);
  if (!byName) {
    if (policies.size >= POLICIES_MAX) policies.clear();
    byName = new Map();
    policies.set(rate, byName);
  }
  let policy = byName.get(name);
  if (!policy) {
    const { quota, windowS } = wholeNumbers(rate);
    policy = `"${name}";q=${quota};w=${windowS}`;
    byName.set(name, policy);
  }
  return policy;
}

const WINDOW_MAX_S = 3_600;

/** The fields allow whole numbers only: 0.1 a second is 1 in 10 seconds, 2.5 a second are 5 in 2. */
function wholeNumbers(rate: number): { quota: number; windowS: number } {
  for (let windowS = 1; windowS <= WINDOW_MAX_S; windowS += 1) {
    const quota = Math.round(rate * windowS);
    if (quota >= 1 && Math.abs(rate * windowS - quota) < 1e-6) return { quota, windowS };
  }
  // Promising a little less than the rate does no harm; promising more would.
  return rate >= 1 ? { quota: Math.floor(rate), windowS: 1 } : { quota: 1, windowS: Math.ceil(1 / rate) };
}
