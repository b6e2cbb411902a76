import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleSlash,
  CircleX,
  Clock,
  Inbox,
  TriangleAlert,
} from 'lucide-react';
import type { ReactNode } from 'react';
import type { WebhookDelivery, WebhookDeliveryState, WebhookEndpoint } from '@beckon/contract/dashboard';
import { named } from '../../parts/codes.ts';
import { Mark, type MarkProps } from '../../parts/index.ts';

const DISABLED: Record<string, string> = {
  manual: 'Disabled by a member',
  gone: 'Disabled: responded 410 Gone',
  failing: 'Disabled: failed for five days',
  deleted: 'Being deleted',
};

/** The health of an endpoint. */
export function EndpointMark({ endpoint }: { endpoint: WebhookEndpoint }): ReactNode {
  const { state, disabled_reason: reason, backoff_until: backoff, failing_since: failing } = endpoint;
  if (state === 'disabled')
    return <Mark icon={CircleSlash} tone="quiet" label={DISABLED[reason ?? 'manual'] ?? 'Disabled'} />;
  if (backoff !== null) return <Mark icon={CircleX} tone="bad" label="Failing, retried rarely" />;
  if (failing !== null) return <Mark icon={TriangleAlert} tone="warn" label="Failing" />;
  return <Mark icon={CircleCheck} tone="good" label="Healthy" />;
}

const STATES: Record<WebhookDeliveryState, MarkProps> = {
  pending: { icon: Clock, tone: 'info', label: 'Waiting' },
  delivering: { icon: CircleDashed, tone: 'info', label: 'In progress' },
  delivered: { icon: CircleCheck, tone: 'good', label: 'Delivered' },
  exhausted: { icon: CircleX, tone: 'bad', label: 'Failed' },
  missed: { icon: Inbox, tone: 'warn', label: 'Missed' },
  canceled: { icon: Ban, tone: 'quiet', label: 'Canceled' },
};

export function DeliveryMark({ state }: { state: WebhookDeliveryState }): ReactNode {
  return <Mark {...STATES[state]} />;
}

const ERRORS: Record<string, string> = {
  internal: 'internal error',
  blocked: 'address not allowed',
  dns: 'DNS lookup failed',
  connect: 'connection failed',
  tls: 'TLS failed',
  timeout: 'timeout',
  reset: 'connection closed',
  protocol: 'invalid HTTP response',
};

/** The result of the last attempt. */
export function lastResponse({ attempts }: WebhookDelivery): string {
  const last = attempts.at(-1);
  if (!last) return 'no attempts yet';
  return responseWords(last) || 'in progress';
}

/** The status and the error of an attempt: "200", "DNS lookup failed". */
export function responseWords({ status, error }: { status: number | null; error: string | null }): string {
  return [status, error === null ? null : named(ERRORS, error)].filter((part) => part !== null).join(' ');
}
