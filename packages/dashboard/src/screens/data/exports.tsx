import { Group, Select, Stack, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { apiUrl, useProject } from '../../api/index.ts';
import { sinceOf } from './since.ts';
import { DownloadButton } from '../../parts/download-button.tsx';
import { Titled } from '../../parts/titled.tsx';
import { Muted } from '../../parts/muted.tsx';
import { textProps, choiceProps } from '../../parts/bind.ts';

const SPANS = [
  { value: '1', label: 'Last day' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: 'all', label: 'All stored data' },
];

export function Exports(): ReactNode {
  return (
    <Titled id="export" title="Export" gap="lg">
      <PersonExport />
      <StreamExport />
    </Titled>
  );
}

/** All data of one user, for data access requests. */
function PersonExport(): ReactNode {
  const project = useProject();
  const [user, setUser] = useState('');
  const id = user.trim();
  const params = { project: project.id, user: id };
  const href = id === '' ? null : apiUrl('GET /projects/:project/users/:user/export', { params });
  return (
    <Group gap="sm" align="flex-end" wrap="wrap">
      <TextInput
        label="One user"
        description="All stored data of the user, as JSON"
        placeholder="User id"
        {...textProps(user, setUser)}
        spellCheck={false}
        w={{ base: '100%', xs: 300 }}
      />
      <DownloadButton href={href}>Download</DownloadButton>
    </Group>
  );
}

function StreamExport(): ReactNode {
  const project = useProject();
  const [span, setSpan] = useState('7');
  const [filter, setFilter] = useState('');
  const since = sinceOf(span, new Date());
  const href = apiUrl('GET /projects/:project/stream-export', {
    params: { project: project.id },
    query: {
      ...(since === null ? {} : { since }),
      ...(filter.trim() === '' ? {} : { filter: filter.trim() }),
    },
  });
  return (
    <Stack gap="xs">
      <Group gap="sm" align="flex-end" wrap="wrap">
        <Select
          label="Activity stream"
          description="One line of JSON per item"
          data={SPANS}
          {...choiceProps(span, setSpan)}
          w={{ base: '100%', xs: 200 }}
        />
        <TextInput
          label="Filter"
          description="Same syntax as the filter of Live"
          placeholder="type:outcome"
          {...textProps(filter, setFilter)}
          spellCheck={false}
          w={{ base: '100%', xs: 240 }}
        />
        <DownloadButton href={href}>Download</DownloadButton>
      </Group>
      <Muted size="xs">Exports contain personal data: ids, changed traits and event properties.</Muted>
    </Stack>
  );
}
