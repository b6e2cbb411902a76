import { Button, Group, Select, Stack, Text, TextInput, Title } from '@mantine/core';
import { Download } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { apiUrl, useProject } from '../../api/index.ts';
import { sinceOf } from './since.ts';

const SPANS = [
  { value: '1', label: 'Last day' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: 'all', label: 'All stored data' },
];

export function Exports(): ReactNode {
  return (
    <Stack gap="lg" component="section" aria-labelledby="export">
      <Title order={2} size="h5" id="export">
        Export
      </Title>
      <PersonExport />
      <StreamExport />
    </Stack>
  );
}

/** All data of one user, for data access requests. */
function PersonExport(): ReactNode {
  const project = useProject();
  const [user, setUser] = useState('');
  const id = user.trim();
  return (
    <Group gap="sm" align="flex-end" wrap="wrap">
      <TextInput
        label="One user"
        description="All stored data of the user, as JSON"
        placeholder="User id"
        value={user}
        onChange={(event) => setUser(event.currentTarget.value)}
        spellCheck={false}
        w={{ base: '100%', xs: 300 }}
      />
      <Button
        {...(id === ''
          ? { disabled: true }
          : {
              component: 'a' as const,
              href: apiUrl('GET /projects/:project/users/:user/export', {
                params: { project: project.id, user: id },
              }),
              download: true,
            })}
        variant="default"
        leftSection={<Download size={15} aria-hidden="true" />}
      >
        Download
      </Button>
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
          value={span}
          onChange={(value) => setSpan(value ?? '7')}
          allowDeselect={false}
          w={{ base: '100%', xs: 200 }}
        />
        <TextInput
          label="Filter"
          description="Same syntax as the filter of Live"
          placeholder="type:outcome"
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
          spellCheck={false}
          w={{ base: '100%', xs: 240 }}
        />
        <Button
          component="a"
          href={href}
          download
          variant="default"
          leftSection={<Download size={15} aria-hidden="true" />}
        >
          Download
        </Button>
      </Group>
      <Text size="xs" c="dimmed">
        Exports contain personal data: ids, changed traits and event properties.
      </Text>
    </Stack>
  );
}
