import { Alert, Anchor, Button, Group, Stack, Table, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { BadgeCheck, Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import type { EventDrift, EventShown } from '@beckon/contract/dashboard';
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
  return <Loaded query={query}>{({ data }) => <Shown event={data} />}</Loaded>;
}

function Shown({ event }: { event: EventShown }): ReactNode {
  const { count, first_at, last_at, canonical, days } = event;
  const project = String(useProject().id);
  const mayEdit = useMay('editor');
  return (
    <Stack gap="lg">
      <Stack gap={4}>
        <Text size="sm">
          {formatCount(count)} in all, first <When at={first_at} />, last <When at={last_at} />
        </Text>
        {canonical && <Mark icon={BadgeCheck} tone="info" label="Canonical: shipped rules know it" />}
      </Stack>
      <Expecting event={event} />
      <ChartWithTable
        title="Volume"
        description={`Events a day (UTC), the last 30 days; ${formatCount(event.last_30_days)} in all`}
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
          Create a rule
        </Button>
      )}
      <Stack gap="xs">
        <Title order={3} size="h6">
          Send it
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

/** Drift is told only of what somebody counts on. */
function Expecting({ event: { name, expected, drift } }: { event: EventShown }): ReactNode {
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
        <Alert color="yellow" variant="light" title="It is not what was expected" p="xs">
          {drift.map((one) => (
            <Text key={JSON.stringify(one)} size="sm" component="div">
              <DriftWords drift={one} />
            </Text>
          ))}
        </Alert>
      )}
      <Group gap="xs" wrap="wrap">
        {expected ? (
          <Text size="sm">
            Expected as it has been since <When at={expected.since} />, says {expected.by}
          </Text>
        ) : (
          <Text size="sm" c="dimmed">
            Mark it as expected to be told when it changes or stops.
          </Text>
        )}
        {mayEdit && (!expected || drift.length > 0) && (
          <Button
            variant="default"
            size="compact-sm"
            loading={expect.isPending}
            onClick={() => expect.mutate({ params })}
          >
            {expected ? 'That is right as it is' : 'Mark as expected'}
          </Button>
        )}
        {mayEdit && expected && (
          <Button
            variant="subtle"
            size="compact-sm"
            loading={forget.isPending}
            onClick={() => forget.mutate({ params })}
          >
            Expect it no more
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
        It stopped: last <When at={drift.last_at} />, usually one every {formatSpan(drift.usual_every_ms)}
      </>
    );
  return (
    <>
      {drift.kind === 'new_property' ? (
        <>
          A new property, <b>{drift.property}</b>
        </>
      ) : (
        <>
          <b>{drift.property}</b> also comes as {drift.type}
        </>
      )}
      , since <When at={drift.since} />
    </>
  );
}

function Properties({ event: { properties, examples } }: { event: EventShown }): ReactNode {
  if (properties.length === 0)
    return (
      <Text size="sm" c="dimmed">
        It has come without properties so far.
      </Text>
    );
  const valuesOf = new Map(examples.map(({ property, values }) => [property, values]));
  return (
    <Table layout="fixed" verticalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Property</Table.Th>
          <Table.Th>Type</Table.Th>
          <Table.Th>Newest values</Table.Th>
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
                  of several types
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

function UsedBy({ event: { used_by: uses }, project }: { event: EventShown; project: string }): ReactNode {
  return (
    <Stack gap={4}>
      <Title order={3} size="h6">
        Used by
      </Title>
      {uses.length === 0 && (
        <Text size="sm" c="dimmed">
          No rule and no audience asks about it.
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

function Newest({ event: { newest } }: { event: EventShown }): ReactNode {
  return (
    <Stack gap="xs">
      <Title order={3} size="h6">
        The newest
      </Title>
      {newest.length === 0 && (
        <Text size="sm" c="dimmed">
          None is kept any more.
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
