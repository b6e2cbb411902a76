import { Stack, Table, Text } from '@mantine/core';
import type { AuditListed } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { When } from '../../parts/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { differenceOf } from './difference.ts';

/** One entry with its difference, field by field. */
export function AuditEntry({ entry }: { entry: AuditListed }): ReactNode {
  const rows = differenceOf(entry.before, entry.after);
  return (
    <Stack gap="md">
      <Facts
        cols={2}
        facts={[
          { label: 'When', value: <When at={entry.at} style="long" /> },
          { label: 'Who', value: entry.actor_name },
          ...(entry.token === null ? [] : [{ label: 'By the token', value: entry.token }]),
          { label: 'About', value: entry.subject ?? '–' },
          { label: 'Project', value: entry.project?.name ?? 'Team' },
          { label: 'Came to its end', value: entry.is_done ? 'yes' : 'nobody knows' },
        ]}
      />
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          No values were noted.
        </Text>
      ) : (
        <Table aria-label="Difference" layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Field</Table.Th>
              <Table.Th scope="col">Before</Table.Th>
              <Table.Th scope="col">After</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ field, before, after }) => (
              <Table.Tr key={field}>
                <Table.Th scope="row" fw={500}>
                  {field}
                </Table.Th>
                <Value text={before} />
                <Value text={after} />
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}

function Value({ text }: { text: string | null }): ReactNode {
  return (
    <Table.Td>
      <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
        {text ?? '–'}
      </Text>
    </Table.Td>
  );
}
