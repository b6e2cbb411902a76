import { Alert, Group, Stack, Text, Title } from '@mantine/core';
import { BadgeCheck, Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import type { EventDrift, EventDetails } from '@beckon/contract/dashboard';
import { useApi, useChange, useMay } from '../../api/index.ts';
import { ChartWithTable } from '../../parts/chart-with-table.tsx';
import { formatCount, formatSpan, Json, Loaded, Mark, Person, refused, When } from '../../parts/index.ts';
import { LinkButton } from '../../parts/link-button.tsx';
import { SmallTable } from '../../parts/small-table.tsx';
import { Samples } from '../../parts/samples.tsx';
import { bodyOf } from './snippet.ts';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';
import { UsedBy } from '../../parts/used-by.tsx';

export function EventPanel({ name }: { name: string }): ReactNode {
  const query = useApi('GET /projects/:project/events/:event', { params: { event: name } });
  return <Loaded query={query}>{({ data }) => <EventView event={data} />}</Loaded>;
}

function EventView({ event }: { event: EventDetails }): ReactNode {
  const { count, first_at, last_at, canonical, days } = event;
  const mayEdit = useMay('editor');
  return (
    <Stack gap="lg">
      <Stack gap={4}>
        <Text size="sm">
          {formatCount(count)} in total, first seen <When at={first_at} />, last seen <When at={last_at} />
        </Text>
        {canonical && <Mark icon={BadgeCheck} tone="info" label="Canonical event: used by built-in rules" />}
      </Stack>
      <Expecting event={event} />
      <ChartWithTable
        title="Volume"
        description={`Events per day (UTC), last 30 days; ${formatCount(event.last_30_days)} in total`}
        kind="bar"
        rows={days.map((sent, index) => ({ day: dayOf(days.length - 1 - index), sent }))}
        x="day"
        xLabel="Day"
        series={[{ name: 'sent', label: 'Events' }]}
        height={140}
      />
      <Properties event={event} />
      <UsedBy uses={event.used_by} none="No rule or audience uses this event." level={3} />
      {mayEdit && (
        <LinkButton
          variant="light"
          w="fit-content"
          leftSection={<Plus size={14} aria-hidden="true" />}
          to="/p/$project/rules/$rule"
          params={{ rule: 'new' }}
          search={{ event: event.name }}
        >
          Create rule
        </LinkButton>
      )}
      <Stack gap="xs">
        <Title order={3} size="h6">
          Send this event
        </Title>
        <Samples calls={[{ path: 'events', body: bodyOf(event) }]} />
      </Stack>
      <Newest event={event} />
    </Stack>
  );
}

const DAY_MS = 86_400_000;

function dayOf(daysAgo: number): string {
  return new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
}

/** Drift is reported only for events that a member marked as expected. */
function Expecting({ event: { name, expected, drift } }: { event: EventDetails }): ReactNode {
  const mayEdit = useMay('editor');
  const changing = {
    refreshes: ['GET /projects/:project/events', 'GET /projects/:project/events/:event'] as (
      | 'GET /projects/:project/events'
      | 'GET /projects/:project/events/:event'
    )[],
    onRefused: (error: Parameters<typeof refused>[0]) => refused(error),
  };
  const expect = useChange('PUT /projects/:project/events/:event/expected', changing);
  const forget = useChange('DELETE /projects/:project/events/:event/expected', changing);
  const params = { event: name };
  return (
    <Stack gap="xs">
      {drift.length > 0 && (
        <Alert color="yellow" variant="light" title="This event changed" p="xs">
          {drift.map((entry) => (
            <Text key={JSON.stringify(entry)} size="sm" component="div">
              <DriftWords drift={entry} />
            </Text>
          ))}
        </Alert>
      )}
      <Group gap="xs" wrap="wrap">
        {expected ? (
          <Text size="sm">
            Marked as expected by {expected.by}, <When at={expected.since} />
          </Text>
        ) : (
          <Muted>
            Mark this event as expected to get a warning when its properties change or it stops arriving.
          </Muted>
        )}
        {mayEdit && (!expected || drift.length > 0) && (
          <ActButton change={expect} size="compact-sm" onClick={() => expect.mutate({ params })}>
            {expected ? 'Accept changes' : 'Mark as expected'}
          </ActButton>
        )}
        {mayEdit && expected && (
          <ActButton
            change={forget}
            variant="subtle"
            size="compact-sm"
            onClick={() => forget.mutate({ params })}
          >
            Remove expectation
          </ActButton>
        )}
      </Group>
    </Stack>
  );
}

function DriftWords({ drift }: { drift: EventDrift }): ReactNode {
  if (drift.kind === 'stopped')
    return (
      <>
        Stopped arriving: last seen <When at={drift.last_at} />, usually every{' '}
        {formatSpan(drift.usual_every_ms)}
      </>
    );
  return (
    <>
      {drift.kind === 'new_property' ? (
        <>
          New property <b>{drift.property}</b>
        </>
      ) : (
        <>
          <b>{drift.property}</b> also arrives as {drift.type}
        </>
      )}
      , since <When at={drift.since} />
    </>
  );
}

function Properties({ event: { properties, examples } }: { event: EventDetails }): ReactNode {
  if (properties.length === 0) return <Muted>No properties so far.</Muted>;
  const valuesOf = new Map(examples.map(({ property, values }) => [property, values]));
  return (
    <SmallTable
      layout="fixed"
      verticalSpacing={6}
      heads={[{ title: 'Property', wraps: true }, 'Type', { title: 'Recent values', wraps: true }]}
      rows={properties.map(({ property, types, conflict }) => ({
        key: property,
        cells: [
          property,
          <>
            {types.join(' or ')}
            {conflict && <Muted size="xs">several types</Muted>}
          </>,
          (valuesOf.get(property) ?? []).map((value) => JSON.stringify(value)).join(', ') || '–',
        ],
      }))}
    />
  );
}

function Newest({ event: { newest } }: { event: EventDetails }): ReactNode {
  return (
    <Stack gap="xs">
      <Title order={3} size="h6">
        Recent events
      </Title>
      {newest.length === 0 && <Muted>The events are no longer stored.</Muted>}
      {newest.map(({ id, external_user_id: user, occurred_at: at, properties }) => (
        <div key={id}>
          <Text size="sm">
            <Person id={user} /> · <When at={at} />
          </Text>
          <Json value={properties} what="properties" />
        </div>
      ))}
    </Stack>
  );
}
