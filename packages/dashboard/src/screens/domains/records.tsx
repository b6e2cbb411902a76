import type { DnsRecord, SendingDomain } from '@beckon/contract/dashboard';
import { Group, Paper, Select, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Command, Copy } from '../../parts/index.ts';
import { RECORD_NAMES, RecordMark } from './marks.tsx';
import { hostOf, PROVIDERS } from './providers.ts';
import { Muted } from '../../parts/muted.tsx';
import { Bullets } from '../../parts/bullets.tsx';

/** The records to publish, with the values that were found. */
export function Records({ domain }: { domain: SendingDomain }): ReactNode {
  const right = domain.records.filter(({ status }) => status === 'ok').length;
  return (
    <Stack gap="md" component="section" aria-labelledby="records">
      <Group justify="space-between" wrap="wrap">
        <Title order={2} size="h5" id="records">
          DNS records
        </Title>
        <Muted>
          {right} of {domain.records.length} correct
        </Muted>
      </Group>
      <Hints />
      {domain.records.map((record) => (
        <Record key={`${record.kind} ${record.name}`} record={record} domain={domain.name} />
      ))}
    </Stack>
  );
}

function Hints(): ReactNode {
  const [id, setId] = useState<string | null>(null);
  const provider = PROVIDERS.find((entry) => entry.id === id);
  return (
    <Stack gap="xs">
      <Select
        label="DNS provider"
        placeholder="Select a provider for hints"
        data={PROVIDERS.map((entry) => ({ value: entry.id, label: entry.name }))}
        value={id}
        onChange={setId}
        clearable
        maw={280}
      />
      {provider && <Bullets spacing={4} items={provider.hints} />}
    </Stack>
  );
}

function Record({ record, domain }: { record: DnsRecord; domain: string }): ReactNode {
  const { kind, type, name, value, split, required, message: says, key_state: key } = record;
  return (
    <Paper withBorder p="md" component="article" aria-label={`${RECORD_NAMES[kind]}, ${name}`}>
      <Stack gap="xs">
        <Group justify="space-between" wrap="wrap">
          <Text size="sm" fw={500}>
            {RECORD_NAMES[kind]}
            {key === null ? '' : ` (the key is ${key}${key === 'retiring' ? ': leave it for now' : ''})`}
          </Text>
          <Group gap="sm">
            <Muted size="xs">{required ? 'required' : 'advised'}</Muted>
            <RecordMark record={record} />
          </Group>
        </Group>
        {says !== null && <Text size="sm">{says}</Text>}
        <Group gap={4} wrap="nowrap">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {type} <strong>{name}</strong>
          </Text>
          <Copy text={name} what="name" />
        </Group>
        <Group gap={4} wrap="nowrap">
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            If only the part before the domain is required: {hostOf(name, domain)}
          </Text>
          <Copy text={hostOf(name, domain)} what="host" />
        </Group>
        <Command text={value} what={`value of ${name}`} />
        {split && <InParts split={split} name={name} />}
        <Found record={record} />
      </Stack>
    </Paper>
  );
}

function InParts({ split, name }: { split: string[]; name: string }): ReactNode {
  return (
    <Stack gap={4}>
      <Muted size="xs">In parts of at most 255 characters</Muted>
      <Command text={split.map((part) => `"${part}"`).join(' ')} what={`value of ${name}, in parts`} />
    </Stack>
  );
}

/** Compares the found value with the expected one; empty if it is correct. */
function Found({ record: { status, found } }: { record: DnsRecord }): ReactNode {
  if (status === 'ok' || status === 'unchecked') return null;
  return (
    <Stack gap={4}>
      <Muted size="xs">Found</Muted>
      {found.length === 0 ? (
        <Text size="sm">{status === 'unknown' ? 'No response from DNS' : 'No record'}</Text>
      ) : (
        found.map((value, index) => (
          <Text key={`${index} ${value}`} size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {value}
          </Text>
        ))
      )}
    </Stack>
  );
}
