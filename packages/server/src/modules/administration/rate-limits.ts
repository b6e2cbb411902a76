import { type Endpoint, ENDPOINTS } from '@beckon/contract';
import type { Clock } from '../../platform/time/clock.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { invalid, unknownProject, listRateLimitRows, updateRateLimit } from '../workspace/index.ts';

export type RateLimit = { endpoint: Endpoint; rate: number; burst: number };
export type RateLimitChange = { rate?: number | undefined; burst?: number | undefined };

const RATE_MAX = 1_000_000;
const BURST_MAX = 10_000_000;

export async function listRateLimits(tx: Tx, projectId: number): Promise<RateLimit[]> {
  const rows = await listRateLimitRows(tx, projectId);
  return ENDPOINTS.flatMap((endpoint) => {
    const row = rows.find((limit) => limit.endpoint === endpoint);
    return row ? [{ endpoint, rate: row.rate, burst: row.burst }] : [];
  });
}

export async function setRateLimit(
  deps: { tx: Tx; clock: Clock },
  where: { projectId: number; endpoint: Endpoint },
  { rate, burst }: RateLimitChange,
): Promise<RateLimit> {
  checkChange({ rate, burst });
  const at = new Date(deps.clock.now());
  const row = await updateRateLimit(deps.tx, { ...where, rate: rate ?? null, burst: burst ?? null, at });
  if (!row) throw unknownProject(where.projectId);
  return { endpoint: where.endpoint, rate: row.rate, burst: row.burst };
}

function checkChange({ rate, burst }: RateLimitChange): void {
  if (rate === undefined && burst === undefined) throw invalid('Set rate, burst, or both');
  if (rate !== undefined && !(rate > 0 && rate <= RATE_MAX))
    throw invalid(`rate must be a number of requests per second, above 0 and at most ${RATE_MAX}`, 'rate');
  if (burst !== undefined && !(Number.isInteger(burst) && burst >= 1 && burst <= BURST_MAX))
    throw invalid(`burst must be a whole number of requests from 1 to ${BURST_MAX}`, 'burst');
}

/** Reads an endpoint by its name (`users-bulk`) or its path (`users/bulk`). */
export function readEndpoint(text: string): Endpoint {
  const endpoint = ENDPOINTS.find((name) => name === text.replaceAll('/', '-'));
  if (endpoint) return endpoint;
  throw invalid(`endpoint must be one of ${ENDPOINTS.join(', ')}`, 'endpoint');
}
