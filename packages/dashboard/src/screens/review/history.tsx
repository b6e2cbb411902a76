import { Table, Text, Title } from '@mantine/core';
import type { DraftWhole } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { When } from '../../parts/index.ts';

/** Everything that was done to it, the newest last, and what became of the letter. */
export function History({ draft: { history, outcomes } }: { draft: DraftWhole }): ReactNode {
  return (
    <>
      <Table aria-label="What was done to this letter" verticalSpacing="xs" layout="auto">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">When</Table.Th>
            <Table.Th scope="col">What</Table.Th>
            <Table.Th scope="col">Who</Table.Th>
            <Table.Th scope="col">Why</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {history.map(({ number, at, action, from, to, actor, reason }) => (
            <Table.Tr key={number}>
              <Table.Td>
                <When at={at} />
              </Table.Td>
              <Table.Td>
                {action.replaceAll('_', ' ')}
                <Text size="xs" c="dimmed">
                  {from ?? 'new'} → {to}
                </Text>
              </Table.Td>
              <Table.Td>{actor}</Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{reason?.replaceAll('_', ' ') ?? '–'}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Title order={2} size="h6" mt="lg" mb="xs">
        What became of it
      </Title>
      {outcomes.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing was heard of it yet.
        </Text>
      ) : (
        outcomes.map(({ type, occurred_at: at }) => (
          <Text key={`${type} ${at}`} size="sm">
            {type.replace('email.', '')} · <When at={at} />
          </Text>
        ))
      )}
    </>
  );
}
