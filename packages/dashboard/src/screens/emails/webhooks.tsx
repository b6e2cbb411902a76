import type { EmailWebhook } from '@beckon/contract/dashboard';
import { CircleAlert, CircleCheck, Clock } from 'lucide-react';
import type { ReactNode } from 'react';
import { Empty, Mark, When } from '../../parts/index.ts';
import { TextLink } from '../../parts/text-link.tsx';
import { SmallTable } from '../../parts/small-table.tsx';

/** The webhook deliveries of an email's outcomes. */
export function EmailWebhooks({ webhooks }: { webhooks: EmailWebhook[] }): ReactNode {
  if (webhooks.length === 0)
    return (
      <Empty title="No webhook deliveries">
        Outcomes are sent to every webhook endpoint that subscribes to them. There is no such endpoint, or no
        outcome yet.
      </Empty>
    );
  return (
    <SmallTable
      aria-label="Webhook deliveries of this email"
      layout="fixed"
      heads={[
        { title: 'Event', wraps: true },
        { title: 'Endpoint', w: '40%', wraps: true },
        'State',
        { title: 'Delivered', visibleFrom: 'sm' },
      ]}
      rows={webhooks.map((delivery) => ({
        key: `${delivery.id} ${delivery.endpoint_id}`,
        cells: [
          delivery.type,
          <ToEndpoint delivery={delivery} />,
          <State delivery={delivery} />,
          <When at={delivery.delivered_at} none="not yet" />,
        ],
      }))}
    />
  );
}

function ToEndpoint({ delivery: { endpoint_id: endpoint, url } }: { delivery: EmailWebhook }): ReactNode {
  return (
    <TextLink to="/p/$project/webhooks/$endpoint" params={{ endpoint }}>
      {url}
    </TextLink>
  );
}

function State({ delivery: { state, attempts } }: { delivery: EmailWebhook }): ReactNode {
  const label = `${state.charAt(0).toUpperCase()}${state.slice(1)}${attempts > 1 ? `, ${attempts} attempts` : ''}`;
  if (state === 'delivered') return <Mark icon={CircleCheck} tone="good" label={label} />;
  const waits = state === 'pending' || state === 'delivering';
  return <Mark icon={waits ? Clock : CircleAlert} tone={waits ? 'info' : 'bad'} label={label} />;
}
