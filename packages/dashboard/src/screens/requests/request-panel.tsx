import type { IngestRequest } from '@beckon/contract/dashboard';
import { Group, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi, useSession } from '../../api/index.ts';
import { Command, Copy, Empty, Loaded, When } from '../../parts/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { curlOf, meaningOf } from './curl.ts';
import { requestOf } from './shown-request.ts';

type Props = { place: string; row: IngestRequest | undefined };

/** One row of the log; where the list does not have it, it is looked for in the stream. */
export function RequestPanel({ place, row }: Props): ReactNode {
  const query = useApi(
    'GET /projects/:project/stream/:place',
    { params: { place } },
    { enabled: row === undefined },
  );
  if (row) return <Shown request={row} />;
  return (
    <Loaded query={query}>
      {({ data }) => {
        const request = requestOf(data);
        return request ? <Shown request={request} /> : <Empty title="This is no request" />;
      }}
    </Loaded>
  );
}

function Shown({ request }: { request: IngestRequest }): ReactNode {
  const url = useSession().data?.data.installation.public_url ?? window.location.origin;
  const { requests } = request;
  return (
    <Stack gap="lg">
      <Text size="sm">
        {request.replayed
          ? 'The answer that its Idempotency-Key was given before was given again; nothing was stored twice.'
          : meaningOf(request.status, request.code)}
      </Text>
      <Facts facts={factsOf(request)} cols={2} />
      {requests > 1 && (
        <Text size="sm" c="dimmed">
          {requests.toLocaleString('en-GB')} requests within a quarter second were answered alike; the id is
          that of the last one.
        </Text>
      )}
      {request.faults.length > 0 && <Faults request={request} />}
      <Stack gap="xs">
        <Text size="sm" fw={500}>
          As a command
        </Text>
        <Command text={curlOf(url, request.endpoint)} what="curl command" />
        <Text size="xs" c="dimmed">
          Bodies are not kept, so this one is an example; the secret stays in your shell.
        </Text>
      </Stack>
    </Stack>
  );
}

function Faults({ request: { faults, rejected } }: { request: IngestRequest }): ReactNode {
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        What was wrong
      </Text>
      <Table aria-label="What was wrong">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Record</Table.Th>
            <Table.Th>Field</Table.Th>
            <Table.Th>Why</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {faults.map(({ index, field, message }) => (
            <Table.Tr key={`${index} ${field} ${message}`}>
              <Table.Td>{index ?? '–'}</Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{field ?? '–'}</Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{message}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {rejected > faults.length && (
        <Text size="xs" c="dimmed">
          The first ones of the last request; its answer named all of them.
        </Text>
      )}
    </Stack>
  );
}

function factsOf(request: IngestRequest) {
  const { key, bytes, slowest_ms: ms } = request;
  return [
    { label: 'When', value: <When at={request.at} style="long" /> },
    { label: 'Answer', value: [request.status, request.code].filter((part) => part !== null).join(' ') },
    { label: 'Endpoint', value: request.endpoint },
    { label: 'Records', value: `${request.accepted} accepted, ${request.rejected} refused` },
    { label: 'Key', value: key === null ? 'not noted' : (key.label ?? key.id) },
    { label: 'Bodies', value: bytes === null ? 'not noted' : `${bytes.toLocaleString('en-GB')} bytes` },
    { label: 'Slowest', value: ms === null ? 'not noted' : `${ms} ms` },
    {
      label: 'Request id',
      value: (
        <Group gap={4} wrap="nowrap">
          <span>{request.request_id}</span>
          <Copy text={request.request_id} what="request id" />
        </Group>
      ),
    },
  ];
}
