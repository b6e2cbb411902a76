import type { SendingDomain } from '@beckon/contract/dashboard';
import { Alert, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Info } from 'lucide-react';
import type { ReactNode } from 'react';
import { useApi } from '../../api/index.ts';
import { Loaded, Page, When } from '../../parts/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { DomainActs } from './domain-acts.tsx';
import { DomainMark, gateWords } from './marks.tsx';
import { Records } from './records.tsx';
import { Speed } from './speed.tsx';
import { TrackingHost } from './tracking-host.tsx';
import { Muted } from '../../parts/muted.tsx';

const route = getRouteApi('/p/$project/settings/domains/$domain');

export function DomainScreen(): ReactNode {
  const { domain: name } = route.useParams();
  const navigate = route.useNavigate();
  const query = useApi(
    'GET /projects/:project/domains/:domain',
    { params: { domain: name } },
    { everyMs: 15_000 },
  );
  const domain = query.data?.data;
  return (
    <Page
      title={name}
      beside={domain && <DomainMark domain={domain} />}
      actions={
        domain && (
          <DomainActs
            domain={domain}
            onRemoved={() => void navigate({ to: '/p/$project/settings/domains', params: true })}
          />
        )
      }
    >
      <Loaded query={query}>{({ data }) => <DomainView domain={data} />}</Loaded>
    </Page>
  );
}

function DomainView({ domain }: { domain: SendingDomain }): ReactNode {
  return (
    <Stack gap="xl">
      <Alert
        variant="outline"
        color={domain.can_send ? 'gray' : 'yellow'}
        icon={<Info size={18} aria-hidden="true" />}
      >
        {gateWords(domain)}
      </Alert>
      <Facts facts={factsOf(domain)} />
      <Records domain={domain} />
      <Speed domain={domain} key={`${domain.throttle} ${domain.warm}`} />
      <TrackingHost domain={domain} key={domain.tracking?.host ?? ''} />
      <Muted maw={720}>
        Aligned means that the signature and the return path belong to the domain in From. DMARC requires
        this, and the records above ensure it.
      </Muted>
    </Stack>
  );
}

function factsOf(domain: SendingDomain) {
  return [
    { label: 'Last checked', value: <When at={domain.checked_at} style="relative" none="not yet" /> },
    {
      label: 'Next check',
      value: <When at={domain.next_check_at} style="relative" none="not scheduled" />,
    },
    { label: 'Verified', value: <When at={domain.verified_at} none="not yet" /> },
    {
      label: 'Warm-up since',
      value: domain.warm ? (
        'none: the domain has sent before'
      ) : (
        <When at={domain.warmup_from} style="day" none="starts after verification" />
      ),
    },
  ];
}
