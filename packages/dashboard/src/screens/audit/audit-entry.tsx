import { Stack, Table, Text } from '@mantine/core';
import type { AuditListed } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { When } from '../../parts/index.ts';
import { actorWords } from '../../parts/actor-words.ts';
import { Facts } from '../../parts/facts.tsx';
import { SmallTable } from '../../parts/small-table.tsx';
import { differenceOf } from './difference.ts';
import { Muted } from '../../parts/muted.tsx';

/** One entry with its changes by field. */
export function AuditEntry({ entry }: { entry: AuditListed }): ReactNode {
  const rows = differenceOf(entry.before, entry.after);
  return (
    <Stack gap="md">
      <Facts
        cols={2}
        facts={[
          { label: 'When', value: <When at={entry.at} style="long" /> },
          { label: 'Member', value: actorWords(entry.actor_name) },
          { label: 'Action', value: <code>{entry.action}</code> },
          ...(entry.token === null ? [] : [{ label: 'Token', value: entry.token }]),
          { label: 'Object', value: entry.subject ?? '–' },
          { label: 'Project', value: entry.project?.name ?? 'Team' },
          { label: 'Completed', value: entry.completed ? 'Yes' : 'Unknown' },
        ]}
      />
      {rows.length === 0 ? (
        <Muted>No values recorded.</Muted>
      ) : (
        <SmallTable aria-label="Changes" layout="fixed" heads={['Field', 'Before', 'After']}>
          {rows.map(({ field, before, after }) => (
            <Table.Tr key={field}>
              <Table.Th scope="row" fw={500}>
                {field}
              </Table.Th>
              <Value text={before} />
              <Value text={after} />
            </Table.Tr>
          ))}
        </SmallTable>
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
