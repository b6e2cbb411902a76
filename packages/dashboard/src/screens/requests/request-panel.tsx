import type { IngestRequest } from '@beckon/contract/dashboard';
import { Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi } from '../../api/index.ts';
import { Copy, Empty, Loaded, When } from '../../parts/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { Samples } from '../../parts/samples.tsx';
import { meaningOf, sampleCall } from './sample-call.ts';
import { requestOf } from './shown-request.ts';
import { spaced } from '../../parts/codes.ts';
import { SmallTable } from '../../parts/small-table.tsx';
import { Muted } from '../../parts/muted.tsx';

type Props = { position: string; row: IngestRequest | undefined };

/** One row of the log. If the list does not contain it, it is loaded from the stream. */
export function RequestPanel({ position, row }: Props): ReactNode {
  const query = useApi(
    'GET /projects/:project/stream/:place',
    { params: { place: position } },
    { enabled: row === undefined },
  );
  if (row) return <RequestView request={row} />;
  return (
    <Loaded query={query}>
      {({ data }) => {
        const request = requestOf(data);
        return request ? <RequestView request={request} /> : <Empty title="Request not found" />;
      }}
    </Loaded>
  );
}

function RequestView({ request }: { request: IngestRequest }): ReactNode {
  const { requests } = request;
  return (
    <Stack gap="lg">
      <Text size="sm">
        {request.replayed
          ? 'Repeated the earlier response for this Idempotency-Key. No record was stored twice.'
          : meaningOf(request.status, request.code)}
      </Text>
      <Facts facts={factsOf(request)} cols={2} />
      {requests > 1 && (
        <Muted>
          {requests.toLocaleString('en-GB')} requests within 250 ms got the same response. The id belongs to
          the last one.
        </Muted>
      )}
      {request.faults.length > 0 && <Faults request={request} />}
      <Stack gap="xs">
        <Text size="sm" fw={500}>
          Sample call
        </Text>
        <Samples calls={[sampleCall(request.endpoint)]} />
        <Muted size="xs">
          Request bodies are not stored, so this is a sample. It reads the key from your environment.
        </Muted>
      </Stack>
    </Stack>
  );
}

function Faults({ request: { faults, rejected } }: { request: IngestRequest }): ReactNode {
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        Errors
      </Text>
      <SmallTable
        aria-label="Errors"
        heads={['Record', { title: 'Field', wraps: true }, { title: 'Reason', wraps: true }]}
        rows={faults.map(({ index, field, message }) => ({
          key: `${index} ${field} ${message}`,
          cells: [index ?? '–', field ?? '–', message],
        }))}
      />
      {rejected > faults.length && (
        <Muted size="xs">The first errors of the last request. The response contained all of them.</Muted>
      )}
    </Stack>
  );
}

function factsOf(request: IngestRequest) {
  const { key, bytes, slowest_ms: ms } = request;
  return [
    { label: 'When', value: <When at={request.at} style="long" /> },
    {
      label: 'Response',
      value: request.code === null ? String(request.status) : `${request.status} ${spaced(request.code)}`,
    },
    { label: 'Endpoint', value: request.endpoint },
    { label: 'Records', value: `${request.accepted} accepted, ${request.rejected} rejected` },
    { label: 'Key', value: key === null ? 'Not recorded' : (key.label ?? key.id) },
    { label: 'Bodies', value: bytes === null ? 'Not recorded' : `${bytes.toLocaleString('en-GB')} bytes` },
    { label: 'Slowest', value: ms === null ? 'Not recorded' : `${ms} ms` },
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
