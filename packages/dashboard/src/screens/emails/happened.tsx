import { Stack, Table, Text, Title } from '@mantine/core';
import type { EmailWhole, EmailHit } from '@beckon/contract/dashboard';
import { Bot, Clock, User } from 'lucide-react';
import type { ReactNode } from 'react';
import { Empty, Mark, When } from '../../parts/index.ts';

const KINDS: Record<EmailHit['kind'], string> = {
  open: 'Image loaded',
  click: 'Link followed',
  trap: 'Hidden link followed',
};

/** The outcomes of an email, and each request behind them with its classification as human or bot. */
export function Happened({ email }: { email: EmailWhole }): ReactNode {
  const { outcome_history: outcomes, hits, links } = email;
  if (outcomes.length === 0 && hits.length === 0 && links.length === 0)
    return (
      <Empty title="No outcomes yet">
        Opens, clicks, replies and bounces appear here. Each request is classified as human or bot after ten
        seconds.
      </Empty>
    );
  return (
    <Stack gap="xl">
      {outcomes.length > 0 && <Outcomes email={email} />}
      {links.length > 0 && <Links links={links} />}
      {hits.length > 0 && <Hits email={email} />}
    </Stack>
  );
}

function Outcomes({ email }: { email: EmailWhole }): ReactNode {
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Outcomes
      </Title>
      <Table aria-label="Outcomes">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">When</Table.Th>
            <Table.Th scope="col">Type</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {email.outcome_history.map(({ id, occurred_at: at, text: words }) => (
            <Table.Tr key={id}>
              <Table.Td>
                <When at={at} theirZone={email.user_time_zone} />
              </Table.Td>
              <Table.Td>{words}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function Links({ links }: { links: EmailWhole['links'] }): ReactNode {
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Links
      </Title>
      <Table aria-label="Links of the email" layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col" w="60%">
              URL
            </Table.Th>
            <Table.Th scope="col" ta="right">
              By humans
            </Table.Th>
            <Table.Th scope="col" ta="right">
              By bots
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {links.map(({ url, clicks, bot_clicks: machines }, at) => (
            <Table.Tr key={`${at} ${url}`}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{url}</Table.Td>
              <Table.Td ta="right">{clicks}</Table.Td>
              <Table.Td ta="right">{machines}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function Hits({
  email: { hits, hit_count: counted, user_time_zone: zone },
}: {
  email: EmailWhole;
}): ReactNode {
  return (
    <section>
      <Title order={2} size="h5" mb={4}>
        Opens and clicks
      </Title>
      {counted > hits.length && (
        <Text size="sm" c="dimmed" mb="xs">
          {counted.toLocaleString('en-GB')} in total. At most {hits.length} are stored; newer requests replace
          classified ones.
        </Text>
      )}
      <Table aria-label="Opens and clicks" layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">When</Table.Th>
            <Table.Th scope="col">Type</Table.Th>
            <Table.Th scope="col">Classification</Table.Th>
            <Table.Th scope="col" visibleFrom="sm">
              User agent
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {hits.map((hit) => (
            <Table.Tr key={hit.number}>
              <Table.Td>
                <When at={hit.at} theirZone={zone} />
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                {KINDS[hit.kind]}
                {hit.url !== null && (
                  <Text size="xs" c="dimmed">
                    {hit.url}
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                <Classification hit={hit} />
              </Table.Td>
              <Table.Td visibleFrom="sm" style={{ overflowWrap: 'anywhere' }}>
                <Text size="xs" c="dimmed">
                  {hit.agent ?? 'not stored'}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function Classification({ hit: { bot, reason_text: why } }: { hit: EmailHit }): ReactNode {
  return (
    <Stack gap={0}>
      {bot === null && <Mark icon={Clock} tone="quiet" label="Being classified" />}
      {bot === 'no' && <Mark icon={User} tone="good" label="Human" />}
      {bot === 'probable' && <Mark icon={Bot} tone="quiet" label="Probably a bot" />}
      {bot === 'yes' && <Mark icon={Bot} tone="quiet" label="Bot" />}
      {why !== null && (
        <Text size="xs" c="dimmed">
          {why}
        </Text>
      )}
    </Stack>
  );
}
