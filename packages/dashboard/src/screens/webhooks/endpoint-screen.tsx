import type { WebhookEndpoint } from '@beckon/contract/dashboard';
import { Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi, useMay } from '../../api/index.ts';
import { Empty, Loaded, Page, When } from '../../parts/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { Deliveries } from './deliveries.tsx';
import { EndpointActs } from './endpoint-acts.tsx';
import { EndpointMark } from './marks.tsx';

const route = getRouteApi('/p/$project/webhooks/$endpoint');

export function EndpointScreen(): ReactNode {
  const { endpoint } = route.useParams();
  const may = useMay('admin');
  const query = useApi(
    'GET /projects/:project/webhooks/:endpoint',
    { params: { endpoint } },
    { everyMs: 10_000, enabled: may },
  );
  const details = query.data?.data;
  return (
    <Page
      title="Webhook endpoint"
      beside={details && <EndpointMark endpoint={details} />}
      actions={details && <EndpointActs endpoint={details} />}
    >
      {may ? (
        <Loaded query={query}>{({ data }) => <Endpoint endpoint={data} />}</Loaded>
      ) : (
        <Empty title="Webhooks require the admin role" />
      )}
    </Page>
  );
}

function Endpoint({ endpoint }: { endpoint: WebhookEndpoint }): ReactNode {
  return (
    <Stack gap="lg">
      <Facts facts={factsOf(endpoint)} />
      <Deliveries endpoint={endpoint} />
    </Stack>
  );
}

function factsOf(endpoint: WebhookEndpoint) {
  const { url, types, description, secrets } = endpoint;
  const ending = secrets.find(({ expires_at: at }) => at !== null)?.expires_at ?? null;
  return [
    { label: 'URL', value: url },
    { label: 'Events', value: types === null ? 'all' : types.join(', ') },
    { label: 'Last success', value: <When at={endpoint.last_success_at} style="relative" none="never" /> },
    { label: 'Failing since', value: <When at={endpoint.failing_since} none="not failing" /> },
    ...(endpoint.backoff_until === null
      ? []
      : [{ label: 'Next attempt at', value: <When at={endpoint.backoff_until} style="clock" /> }]),
    {
      label: 'Secrets',
      value:
        ending === null ? (
          'one'
        ) : (
          <>
            two; the old one is valid until <When at={ending} />
          </>
        ),
    },
    { label: 'Limits', value: `${endpoint.per_second} per second, ${endpoint.in_flight_max} concurrent` },
    ...(description === '' ? [] : [{ label: 'Description', value: description }]),
  ];
}
