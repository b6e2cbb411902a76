import { Anchor, Table } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { EmailWebhook } from '@beckon/contract/dashboard';
import { CircleAlert, CircleCheck, Clock } from 'lucide-react';
import type { ReactNode } from 'react';
import { useProject } from '../../api/index.ts';
import { Empty, Mark, When } from '../../parts/index.ts';

/** The webhook deliveries of an email's outcomes. */
export function EmailWebhooks({ webhooks }: { webhooks: EmailWebhook[] }): ReactNode {
  const project = useProject();
  if (webhooks.length === 0)
    return (
      <Empty title="No webhook deliveries">
        Outcomes are sent to every webhook endpoint that subscribes to them. There is no such endpoint, or no
        outcome yet.
      </Empty>
    );
  return (
    <Table aria-label="Webhook deliveries of this email" layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Event</Table.Th>
          <Table.Th scope="col" w="40%">
            Endpoint
          </Table.Th>
          <Table.Th scope="col">State</Table.Th>
          <Table.Th scope="col" visibleFrom="sm">
            Delivered
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {webhooks.map((delivery) => (
          <Table.Tr key={`${delivery.id} ${delivery.endpoint_id}`}>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{delivery.type}</Table.Td>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              <Anchor
                size="sm"
                renderRoot={(props) => (
                  <Link
                    to="/p/$project/webhooks/$endpoint"
                    params={{ project: String(project.id), endpoint: delivery.endpoint_id }}
                    {...props}
                  />
                )}
              >
                {delivery.url}
              </Anchor>
            </Table.Td>
            <Table.Td>
              <State delivery={delivery} />
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <When at={delivery.delivered_at} none="not yet" />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function State({ delivery: { state, attempts } }: { delivery: EmailWebhook }): ReactNode {
  const label = `${state.charAt(0).toUpperCase()}${state.slice(1)}${attempts > 1 ? `, ${attempts} attempts` : ''}`;
  if (state === 'delivered') return <Mark icon={CircleCheck} tone="good" label={label} />;
  const waits = state === 'pending' || state === 'delivering';
  return <Mark icon={waits ? Clock : CircleAlert} tone={waits ? 'info' : 'bad'} label={label} />;
}
