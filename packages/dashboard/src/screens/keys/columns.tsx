import { Button, Code, Stack, Text } from '@mantine/core';
import { CircleCheck, CircleSlash, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ApiKey } from '@beckon/contract/dashboard';
import { type Column, Mark, When } from '../../parts/index.ts';
import { requestsIn } from './traffic.ts';
import { Muted } from '../../parts/muted.tsx';
import { TwoLines } from '../../parts/two-lines.tsx';

export function columnsOf(onRevoke: (key: ApiKey) => void): Column<ApiKey>[] {
  return [
    {
      id: 'label',
      title: 'Label',
      width: '1.4fr',
      cell: ({ label, display }) => <TwoLines first={label} second={<Code fz="xs">{display}</Code>} />,
    },
    {
      id: 'by',
      title: 'Created',
      width: '1fr',
      narrow: 'hide',
      cell: ({ created_at: at, created_by: by }) => (
        <TwoLines first={<When at={at} style="day" />} second={by === null ? 'by command' : `by ${by}`} />
      ),
    },
    {
      id: 'used',
      title: 'Last used',
      width: '110px',
      cell: ({ last_used_at: at }) => <When at={at} style="relative" none="never" />,
    },
    {
      id: 'traffic',
      title: 'Requests, 7 days',
      width: '130px',
      align: 'right',
      cell: ({ traffic }) => requestsIn(traffic, 7).toLocaleString('en-GB'),
    },
    { id: 'client', title: 'Client', width: '1.1fr', narrow: 'hide', cell: (key) => <Client apiKey={key} /> },
    {
      id: 'state',
      title: 'State',
      width: '130px',
      cell: (key) => <State apiKey={key} onRevoke={onRevoke} />,
    },
  ];
}

function Client({ apiKey: { client, minimum_version: minimum } }: { apiKey: ApiKey }): ReactNode {
  if (!client) return <Muted>–</Muted>;
  return (
    <Stack gap={0} style={{ minWidth: 0 }}>
      <Text size="sm" truncate>
        {client.name} {client.version}
      </Text>
      {minimum !== null && <Mark icon={TriangleAlert} tone="warn" label={`Update to ${minimum}`} />}
    </Stack>
  );
}

function State({ apiKey, onRevoke }: { apiKey: ApiKey; onRevoke: (key: ApiKey) => void }): ReactNode {
  if (apiKey.revoked_at !== null) return <Mark icon={CircleSlash} tone="quiet" label="Revoked" />;
  return (
    <Stack gap={4} align="flex-start">
      <Mark icon={CircleCheck} tone="good" label="Active" />
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => onRevoke(apiKey)}
        aria-label={`Revoke ${apiKey.label}`}
      >
        Revoke
      </Button>
    </Stack>
  );
}
