import { Anchor, Button, Group, NumberInput, Stack, Table, Text } from '@mantine/core';
import { Gauge, ShieldCheck, TrendingUp } from 'lucide-react';
import { Link } from '@tanstack/react-router';
import type { WarmupShown, RateLimitShown, SendingState } from '@beckon/contract/dashboard';
import { type ReactNode, useState } from 'react';
import { useApi, useChange, useMay, useProject } from '../../api/index.ts';
import { ErrorBox, Loaded, Mark, told, When } from '../../parts/index.ts';

/** What holds letters back besides the settings: the warm-up of the domain, and its own throttle. */
export function DomainLimits(): ReactNode {
  const query = useApi('GET /projects/:project/sending', {});
  return <Loaded query={query}>{({ data }) => <Limits sending={data} />}</Loaded>;
}

function Limits({ sending: { warmup, domains } }: { sending: SendingState }): ReactNode {
  const project = String(useProject().id);
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
        <Anchor
          inherit
          renderRoot={(props) => <Link to="/p/$project/domains" params={{ project }} {...props} />}
        >
          Domains
        </Anchor>{' '}
        sets the throttle of each domain, and says when one is warm already.
      </Text>
    </Stack>
  );
}

const NO_WARMUP: Record<NonNullable<WarmupShown['off']>, string> = {
  test_inbox: 'There is no warm-up: letters stay in the outbox of this installation',
  no_domain: 'There is no warm-up yet: the sender has no domain that was added',
  warm: 'There is no warm-up: the domain has sent before',
  not_begun: 'The warm-up begins when the domain is verified',
  over: 'The warm-up is over',
};

function Warmup({ warmup }: { warmup: WarmupShown }): ReactNode {
  if (warmup.off !== null) return <Mark icon={ShieldCheck} tone="quiet" label={NO_WARMUP[warmup.off]} />;
  const { day, emails: letters, remaining: left, ends_at, reduced: troubled } = warmup;
  return (
    <Stack gap={4}>
      <Mark
        icon={TrendingUp}
        tone={left === 0 ? 'warn' : 'info'}
        label={`Day ${day} of the warm-up: ${left.toLocaleString('en')} of ${letters.toLocaleString('en')} letters left`}
      />
      <Text size="sm">
        More may leave from <When at={ends_at} /> on.
        {troubled && ' It does not grow now: too many letters came back, or were complained about.'}
      </Text>
    </Stack>
  );
}

/** How fast the customer's servers may send, by endpoint. */
export function RateLimits(): ReactNode {
  const query = useApi('GET /projects/:project/rate-limits', {});
  return (
    <Loaded query={query}>
      {({ data }) => (
        <Table.ScrollContainer minWidth={0}>
          <Table verticalSpacing={4} layout="auto">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Endpoint</Table.Th>
                <Table.Th>Requests a second · at once</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {data.map((limit) => (
                <LimitRow key={`${limit.endpoint} ${limit.rate} ${limit.burst}`} limit={limit} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Loaded>
  );
}

function LimitRow({ limit }: { limit: RateLimitShown }): ReactNode {
  const mayChange = useMay('admin');
  const [rate, setRate] = useState<number | string>(limit.rate);
  const [burst, setBurst] = useState<number | string>(limit.burst);
  const change = useChange('PATCH /projects/:project/rate-limits/:endpoint', {
    refreshes: ['GET /projects/:project/rate-limits'],
    onDone: ({ data }) => told(`${data.endpoint}: ${data.rate} a second, ${data.burst} at once`),
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
          <NumberInput
            aria-label={`Requests a second to ${limit.endpoint}`}
            w={100}
            size="xs"
            min={0}
            value={rate}
            onChange={setRate}
            disabled={!mayChange}
          />
          <NumberInput
            aria-label={`Requests at once to ${limit.endpoint}`}
            w={100}
            size="xs"
            min={1}
            allowDecimal={false}
            value={burst}
            onChange={setBurst}
            disabled={!mayChange}
          />
          {isChanged && (
            <Button size="xs" onClick={save} disabled={!isReady} loading={change.isPending}>
              Save
            </Button>
          )}
        </Group>
        {change.error && <ErrorBox error={change.error} />}
      </Table.Td>
    </Table.Tr>
  );
}
