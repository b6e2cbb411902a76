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
import { Mark, type MarkProps } from '../../parts/index.ts';

const DISABLED: Record<string, string> = {
  manual: 'Disabled by a person',
  gone: 'Disabled: it answered 410',
  failing: 'Disabled: it failed for days',
  deleted: 'Being deleted',
};

/** How an endpoint does. */
export function EndpointMark({ endpoint }: { endpoint: WebhookEndpoint }): ReactNode {
  const { state, disabled_reason: reason, backoff_until: spared, failing_since: failing } = endpoint;
  if (state === 'disabled')
    return <Mark icon={CircleSlash} tone="quiet" label={DISABLED[reason ?? 'manual'] ?? 'Disabled'} />;
  if (spared !== null) return <Mark icon={CircleX} tone="bad" label="Failing, asked now and then" />;
  if (failing !== null) return <Mark icon={TriangleAlert} tone="warn" label="Failing" />;
  return <Mark icon={CircleCheck} tone="good" label="Healthy" />;
}

const STATES: Record<WebhookDeliveryState, MarkProps> = {
  pending: { icon: Clock, tone: 'info', label: 'Waits' },
  delivering: { icon: CircleDashed, tone: 'info', label: 'Under way' },
  delivered: { icon: CircleCheck, tone: 'good', label: 'Delivered' },
  exhausted: { icon: CircleX, tone: 'bad', label: 'Failed' },
  missed: { icon: Inbox, tone: 'warn', label: 'Missed' },
  canceled: { icon: Ban, tone: 'quiet', label: 'Canceled' },
};

export function DeliveryMark({ state }: { state: WebhookDeliveryState }): ReactNode {
  return <Mark {...STATES[state]} />;
}

/** What came of the last attempt, in a few words. */
export function lastAnswer({ attempts }: WebhookDelivery): string {
  const last = attempts.at(-1);
  if (!last) return 'not tried yet';
  return [last.status, last.error].filter((part) => part !== null).join(' ') || 'under way';
}
