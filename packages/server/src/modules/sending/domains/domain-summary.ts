import { iso, isoOrNull } from '../../../platform/time/clock.ts';
import { printThrottle, type Tracking } from './domain.ts';
import type { DomainView } from './domain-view.ts';

/** A domain as the API and the dashboard return it. */
export function toShown({ domain, records }: DomainView) {
  return {
    id: domain.id,
    name: domain.name,
    state: domain.state,
    records: records.map(toShownRecord),
    throttle: printThrottle(domain.throttle),
    warm: domain.warm,
    warmup_from: isoOrNull(domain.warmupFrom),
    tracking: toShownTracking(domain.tracking),
    paused_at: isoOrNull(domain.pausedAt),
    paused_reason: domain.pausedReason,
    created_at: iso(domain.createdAt),
    verified_at: isoOrNull(domain.verifiedAt),
    checked_at: isoOrNull(domain.checkedAt),
    next_check_at: isoOrNull(domain.nextCheckAt),
  };
}

/** `status`: ok, missing, wrong or unknown; unchecked before the first check. */
function toShownRecord(record: DomainView['records'][number]) {
  const { kind, name, type, value, split, required, keyState, finding } = record;
  return {
    kind,
    name,
    type,
    value,
    split,
    required,
    status: finding?.verdict ?? ('unchecked' as const),
    found: finding?.found ?? [],
    message: finding?.says ?? null,
    warning: finding ? finding.warns || (!required && finding.verdict !== 'ok') : false,
    key_state: keyState,
  };
}

export type ShownDomain = ReturnType<typeof toShown>;

function toShownTracking(tracking: Tracking | null) {
  if (!tracking) return null;
  const { host, state, found, checkedAt, nextAt } = tracking;
  return {
    host,
    state,
    found,
    checked_at: isoOrNull(checkedAt),
    next_check_at: iso(nextAt),
  };
}
