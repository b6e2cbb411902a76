import { Stack, Table, Text } from '@mantine/core';
import type { AuditListed } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { When } from '../../parts/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { differenceOf } from './difference.ts';

/** One entry with its changes by field. */
export function AuditEntry({ entry }: { entry: AuditListed }): ReactNode {
  const rows = differenceOf(entry.before, entry.after);
  return (
    <Stack gap="md">
      <Facts
        cols={2}
        facts={[
          { label: 'When', value: <When at={entry.at} style="long" /> },
          { label: 'Member', value: entry.actor_name },
          ...(entry.token === null ? [] : [{ label: 'Token', value: entry.token }]),
          { label: 'Object', value: entry.subject ?? '–' },
          { label: 'Project', value: entry.project?.name ?? 'Team' },
          { label: 'Completed', value: entry.completed ? 'Yes' : 'Unknown' },
        ]}
      />
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          No values recorded.
        </Text>
      ) : (
        <Table aria-label="Changes" layout="fixed">
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
