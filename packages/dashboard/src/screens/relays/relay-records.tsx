import type { Relay, RelayRecord, RelayRecords as Records } from '@beckon/contract/dashboard';
import { Anchor, Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi } from '../../api/index.ts';
import { Command, Copy, Loaded } from '../../parts/index.ts';
import { Muted } from '../../parts/muted.tsx';
import { Section } from '../../parts/section.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import { StatusMark } from './marks.tsx';

const PURPOSES: Record<RelayRecord['purpose'], string> = {
  dkim: 'DKIM: signature of the provider',
  return_path: 'Return path: receives bounces',
  tracking: 'Tracking host of the provider',
  verification: 'Verification of the domain',
};

/** The DNS records that the provider wants for each domain. They are looked up again every 30 seconds. */
export function RelayRecords({ relay, spfInclude }: { relay: Relay; spfInclude: string | null }): ReactNode {
  const domains = useApi('GET /projects/:project/domains', {}).data?.data ?? [];
  const used = domains.filter(({ name }) => relay.used_by_project || relay.used_by_domains.includes(name));
  return (
    <Section title="DNS records" text="Records that the provider needs besides those of your domain.">
      <Stack gap="md">
        {spfInclude !== null && (
          <Stack gap={4}>
            <Text size="sm">Add this to the SPF record of the return path</Text>
            <Command text={`include:${spfInclude}`} what="SPF include" />
          </Stack>
        )}
        {relay.kind === 'smtp' ? (
          <Group gap={4}>
            <Muted>An SMTP relay has no records that Beckon knows. Those of your domain are under</Muted>
            <TextLink size="sm" to="/p/$project/settings/domains">
              Domains
            </TextLink>
          </Group>
        ) : used.length === 0 ? (
          <Muted>Use the relay for this project or one of its domains to see the records.</Muted>
        ) : (
          used.map(({ name }) => <DomainRecords key={name} relay={relay.id} domain={name} />)
        )}
      </Stack>
    </Section>
  );
}

function DomainRecords({ relay, domain }: { relay: string; domain: string }): ReactNode {
  const query = useApi(
    'GET /projects/:project/relays/:relay/domains/:domain',
    { params: { relay, domain } },
    { everyMs: 30_000 },
  );
  return (
    <Stack gap="sm" component="section" aria-label={domain}>
      <Title order={3} size="h6">
        {domain}
      </Title>
      <Loaded query={query}>{({ data }) => <RecordList found={data} />}</Loaded>
    </Stack>
  );
}

function RecordList({ found }: { found: Records }): ReactNode {
  const { records, complete, guide_url: guideUrl, failure } = found;
  const correct = records.filter(({ status }) => status === 'ok').length;
  return (
    <Stack gap="sm">
      {records.length > 0 && (
        <Muted>
          {correct} of {records.length} correct
        </Muted>
      )}
      {records.map((record) => (
        <Record key={`${record.type} ${record.name} ${record.value}`} record={record} />
      ))}
      {failure !== null && <Text size="sm">{failure}</Text>}
      {!complete && guideUrl !== null && (
        <Text size="sm">
          The provider shows {records.length === 0 ? 'its' : 'more'} records in{' '}
          <Anchor size="sm" href={guideUrl} target="_blank" rel="noreferrer">
            its own dashboard
          </Anchor>
          .
        </Text>
      )}
    </Stack>
  );
}

function Record({
  record: { type, name, value, purpose, status, found },
}: {
  record: RelayRecord;
}): ReactNode {
  return (
    <Paper withBorder p="sm" component="article" aria-label={`${PURPOSES[purpose]}, ${name}`}>
      <Stack gap="xs">
        <Group justify="space-between" wrap="wrap">
          <Text size="sm" fw={500}>
            {PURPOSES[purpose]}
          </Text>
          <StatusMark status={status} />
        </Group>
        <Group gap={4} wrap="nowrap">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {type} <strong>{name}</strong>
          </Text>
          <Copy text={name} what="name" />
        </Group>
        <Command text={value} what={`value of ${name}`} />
        {status === 'wrong' && <Muted size="xs">Found: {found.join(', ')}</Muted>}
      </Stack>
    </Paper>
  );
}
