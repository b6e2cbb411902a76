import { Group, NumberInput, type NumberInputProps, Stack, Table, Text } from '@mantine/core';
import { Gauge, ShieldCheck, TrendingUp } from 'lucide-react';
import type { WarmupDetails, EndpointRateLimit, SendingState } from '@beckon/contract/dashboard';
import { type ReactNode, useState } from 'react';
import { useApi, useChange, useMay } from '../../api/index.ts';
import { ErrorBox, Loaded, Mark, notify, When } from '../../parts/index.ts';
import { TextLink } from '../../parts/text-link.tsx';
import { SmallTable } from '../../parts/small-table.tsx';
import { ActButton } from '../../parts/act-button.tsx';

/** The limits of the domain: its warm-up and its throttle. */
export function DomainLimits(): ReactNode {
  const query = useApi('GET /projects/:project/sending', {});
  return <Loaded query={query}>{({ data }) => <Limits sending={data} />}</Loaded>;
}

function Limits({ sending: { warmup, domains } }: { sending: SendingState }): ReactNode {
  return (
    <Stack gap="xs" align="start">
      <Warmup warmup={warmup} />
      {domains.map(({ id, name, throttle }) => (
        <Group key={id} gap="xs">
          <Mark icon={Gauge} tone="quiet" label={throttle === 'off' ? 'No throttle' : throttle} />
          <Text size="sm">{name}</Text>
        </Group>
      ))}
      <Text size="sm">
        <TextLink inherit to="/p/$project/settings/domains">
          Domains
        </TextLink>{' '}
        has the throttle of each domain, and the option to skip the warm-up.
      </Text>
    </Stack>
  );
}

const NO_WARMUP: Record<NonNullable<WarmupDetails['off']>, string> = {
  test_inbox: 'No warm-up: emails go to the test inbox',
  no_domain: 'No warm-up yet: the sender’s domain was not added',
  warm: 'No warm-up: the domain has sent before',
  not_started: 'The warm-up starts when the domain is verified',
  complete: 'The warm-up is complete',
};

function Warmup({ warmup }: { warmup: WarmupDetails }): ReactNode {
  if (warmup.off !== null) return <Mark icon={ShieldCheck} tone="quiet" label={NO_WARMUP[warmup.off]} />;
  const { day, emails, remaining: left, ends_at, reduced: troubled } = warmup;
  return (
    <Stack gap={4}>
      <Mark
        icon={TrendingUp}
        tone={left === 0 ? 'warn' : 'info'}
        label={`Day ${day} of the warm-up: ${left.toLocaleString('en')} of ${emails.toLocaleString('en')} emails left`}
      />
      <Text size="sm">
        The limit resets on <When at={ends_at} />.
        {troubled && ' The limit does not grow now, because of too many bounces or complaints.'}
      </Text>
    </Stack>
  );
}

/** The API's rate limits by endpoint. */
export function RateLimits(): ReactNode {
  const query = useApi('GET /projects/:project/rate-limits', {});
  return (
    <Loaded query={query}>
      {({ data }) => (
        <Table.ScrollContainer minWidth={0}>
          <SmallTable verticalSpacing={4} layout="auto" heads={['Endpoint', 'Requests per second · burst']}>
            {data.map((limit) => (
              <LimitRow key={`${limit.endpoint} ${limit.rate} ${limit.burst}`} limit={limit} />
            ))}
          </SmallTable>
        </Table.ScrollContainer>
      )}
    </Loaded>
  );
}

function LimitRow({ limit }: { limit: EndpointRateLimit }): ReactNode {
  const [rate, setRate] = useState<number | string>(limit.rate);
  const [burst, setBurst] = useState<number | string>(limit.burst);
  const change = useChange('PATCH /projects/:project/rate-limits/:endpoint', {
    refreshes: ['GET /projects/:project/rate-limits'],
    onDone: ({ data }) => notify(`${data.endpoint}: ${data.rate} per second, burst of ${data.burst}`),
  });
  const isChanged = rate !== limit.rate || burst !== limit.burst;
  const isReady = isChanged && typeof rate === 'number' && typeof burst === 'number';
  const save = (): void => {
    if (typeof rate !== 'number' || typeof burst !== 'number') return;
    change.mutate({ params: { endpoint: limit.endpoint }, body: { rate, burst } });
  };
  return (
    <Table.Tr>
      <Table.Td>
        <code>{limit.endpoint}</code>
      </Table.Td>
      <Table.Td>
        <Group gap="xs" wrap="wrap">
          <LimitInput
            aria-label={`Requests per second to ${limit.endpoint}`}
            min={0}
            value={rate}
            onChange={setRate}
          />
          <LimitInput
            aria-label={`Burst of requests to ${limit.endpoint}`}
            min={1}
            allowDecimal={false}
            value={burst}
            onChange={setBurst}
          />
          {isChanged && (
            <ActButton change={change} variant="filled" size="xs" onClick={save} disabled={!isReady}>
              Save
            </ActButton>
          )}
        </Group>
        {change.error && <ErrorBox error={change.error} />}
      </Table.Td>
    </Table.Tr>
  );
}

function LimitInput(props: NumberInputProps): ReactNode {
  return <NumberInput w={100} size="xs" disabled={!useMay('admin')} {...props} />;
}
