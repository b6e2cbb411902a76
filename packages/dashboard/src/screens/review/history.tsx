import { Table, Text, Title } from '@mantine/core';
import type { DraftWhole } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { When } from '../../parts/index.ts';
import { capital, outcomeWords, stateWords } from '../../parts/codes.ts';
import { actionWords, draftReasonWords } from '../../parts/draft-words.ts';

/** All actions on a draft, the newest last, and the outcomes of its email. */
export function History({ draft: { history, outcomes } }: { draft: DraftWhole }): ReactNode {
  return (
    <>
      <Table aria-label="History of this draft" verticalSpacing="xs" layout="auto">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">When</Table.Th>
            <Table.Th scope="col">Action</Table.Th>
            <Table.Th scope="col">By</Table.Th>
            <Table.Th scope="col">Reason</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {history.map(({ number, at, action, from, to, actor, reason }) => (
            <Table.Tr key={number}>
              <Table.Td>
                <When at={at} />
              </Table.Td>
              <Table.Td>
                {actionWords(action)}
                <Text size="xs" c="dimmed">
                  {from === null ? 'new' : stateWords(from)} → {stateWords(to)}
                </Text>
              </Table.Td>
              <Table.Td>{actor === 'engine' ? 'Beckon' : actor}</Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                {reason === null ? '–' : draftReasonWords(reason)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Title order={2} size="h6" mt="lg" mb="xs">
        Outcomes
      </Title>
      {outcomes.length === 0 ? (
        <Text size="sm" c="dimmed">
          No outcomes yet.
        </Text>
      ) : (
        outcomes.map(({ type, occurred_at: at }) => (
          <Text key={`${type} ${at}`} size="sm">
            {capital(outcomeWords(type))} · <When at={at} />
          </Text>
        ))
      )}
    </>
  );
}
