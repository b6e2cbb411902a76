import type { Relay, RelayRecord, RelayRecords as Records } from '@beckon/contract/dashboard';
import { Anchor, Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi } from '../../api/index.ts';
import { Command, Copy, Loaded } from '../../parts/index.ts';
import { Muted } from '../../parts/muted.tsx';
import { Section } from '../../parts/section.tsx';
import { StatusMark } from './marks.tsx';

const PURPOSES: Record<RelayRecord['purpose'], string> = {
  dkim: 'DKIM: signature of the provider',
  return_path: 'Return path: receives bounces',
  spf: 'SPF: allows the relay to send',
  tracking: 'Tracking host of the provider',
  verification: 'Verification of the domain',
};

/** The DNS records that the provider wants for each domain. They are looked up again every 30 seconds. */
export function RelayRecords({ relay }: { relay: Relay }): ReactNode {
  const domains = useApi('GET /projects/:project/domains', {}).data?.data ?? [];
  const isForAll = relay.used_by_project || relay.used_by_installation;
  const used = domains.filter(({ name }) => isForAll || relay.used_by_domains.includes(name));
  return (
    <Section title="DNS records" text="Records that the provider needs besides those of your domain.">
      <Stack gap="md">
        {used.length === 0 ? (
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
  const { records, complete, guide_url: guideUrl, failure, own_return_path: provider } = found;
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
      {provider !== null && (
        <Text size="sm">
          {provider} sends with a return path of its own, so the SPF record of this domain needs no change.
        </Text>
      )}
      {records.length === 0 && complete && provider === null && (
        <Muted>
          Beckon knows no records of this relay. If it has an SPF include, enter it under Settings below.
        </Muted>
      )}
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
