import { Alert, Anchor, Button, Group, Stack, Table, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { BadgeCheck, Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import type { EventDrift, EventDetails } from '@beckon/contract/dashboard';
import { useApi, useChange, useMay, useProject } from '../../api/index.ts';
import { ChartWithTable } from '../../parts/chart-with-table.tsx';
import {
  Command,
  formatCount,
  formatSpan,
  Json,
  Loaded,
  Mark,
  Person,
  refused,
  When,
} from '../../parts/index.ts';
import { curlOf, typedOf } from './snippet.ts';

export function EventPanel({ name }: { name: string }): ReactNode {
  const query = useApi('GET /projects/:project/events/:event', { params: { event: name } });
  return <Loaded query={query}>{({ data }) => <EventView event={data} />}</Loaded>;
}

function EventView({ event }: { event: EventDetails }): ReactNode {
  const { count, first_at, last_at, canonical, days } = event;
  const project = String(useProject().id);
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
      <UsedBy event={event} project={project} />
      {mayEdit && (
        <Button
          variant="light"
          w="fit-content"
          leftSection={<Plus size={14} aria-hidden="true" />}
          renderRoot={(props) => (
            <Link to={`/p/${project}/rules/new`} search={{ event: event.name } as never} {...props} />
          )}
        >
          Create rule
        </Button>
      )}
      <Stack gap="xs">
        <Title order={3} size="h6">
          Send this event
        </Title>
        <Command text={typedOf(event)} />
        <Command text={curlOf(event)} />
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
          <Text size="sm" c="dimmed">
            Mark this event as expected to get a warning when its properties change or it stops arriving.
          </Text>
        )}
        {mayEdit && (!expected || drift.length > 0) && (
          <Button
            variant="default"
            size="compact-sm"
            loading={expect.isPending}
            onClick={() => expect.mutate({ params })}
          >
            {expected ? 'Accept changes' : 'Mark as expected'}
          </Button>
        )}
        {mayEdit && expected && (
          <Button
            variant="subtle"
            size="compact-sm"
            loading={forget.isPending}
            onClick={() => forget.mutate({ params })}
          >
            Remove expectation
          </Button>
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
  if (properties.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No properties so far.
      </Text>
    );
  const valuesOf = new Map(examples.map(({ property, values }) => [property, values]));
  return (
    <Table layout="fixed" verticalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Property</Table.Th>
          <Table.Th>Type</Table.Th>
          <Table.Th>Recent values</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {properties.map(({ property, types, conflict }) => (
          <Table.Tr key={property}>
            <Table.Td style={WRAP}>{property}</Table.Td>
            <Table.Td>
              {types.join(' or ')}
              {conflict && (
                <Text size="xs" c="dimmed">
                  several types
                </Text>
              )}
            </Table.Td>
            <Table.Td style={WRAP}>
              {(valuesOf.get(property) ?? []).map((value) => JSON.stringify(value)).join(', ') || '–'}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

const WRAP = { overflowWrap: 'anywhere' } as const;

function UsedBy({ event: { used_by: uses }, project }: { event: EventDetails; project: string }): ReactNode {
  return (
    <Stack gap={4}>
      <Title order={3} size="h6">
        Used by
      </Title>
      {uses.length === 0 && (
        <Text size="sm" c="dimmed">
          No rule or audience uses this event.
        </Text>
      )}
      {uses.map(({ kind, id, name }) => (
        <Anchor key={`${kind} ${id}`} component={Link} size="sm" to={`/p/${project}/${kind}s/${id}`}>
          {name} ({kind})
        </Anchor>
      ))}
    </Stack>
  );
}

function Newest({ event: { newest } }: { event: EventDetails }): ReactNode {
  return (
    <Stack gap="xs">
      <Title order={3} size="h6">
        Recent events
      </Title>
      {newest.length === 0 && (
        <Text size="sm" c="dimmed">
          The events are no longer stored.
        </Text>
      )}
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
