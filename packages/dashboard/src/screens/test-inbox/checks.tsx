import { List, Stack, Table, Text } from '@mantine/core';
import type { MailCheck } from '@beckon/contract/dashboard';
import { CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Mark, type MarkProps } from '../../parts/index.ts';
import { checkName, worstFirst } from '../../parts/check-names.ts';
import { SmallTable } from '../../parts/small-table.tsx';

const MARKS: Record<MailCheck['status'], Pick<MarkProps, 'icon' | 'tone' | 'label'>> = {
  error: { icon: CircleAlert, tone: 'bad', label: 'Error' },
  warning: { icon: TriangleAlert, tone: 'warn', label: 'Warning' },
  ok: { icon: CircleCheck, tone: 'good', label: 'OK' },
};

/** The problems of an email, the worst first, with their fixes. */
export function Checks({ checks }: { checks: MailCheck[] }): ReactNode {
  return (
    <SmallTable
      aria-label="Checks of the email"
      verticalSpacing="sm"
      layout="fixed"
      heads={[{ title: 'State', w: 120 }, 'Check']}
    >
      {worstFirst(checks).map(({ name, status, message, detail }) => (
        <Table.Tr key={name}>
          <Table.Td valign="top">
            <Mark {...MARKS[status]} />
          </Table.Td>
          <Table.Td>
            <Stack gap={2}>
              <Text size="sm" fw={500}>
                {checkName(name)}
              </Text>
              <Text size="sm">{message}</Text>
              {detail.length > 0 && (
                <List size="xs" c="dimmed">
                  {detail.map((line, at) => (
                    <List.Item key={`${at} ${line}`} style={{ overflowWrap: 'anywhere' }}>
                      {line}
                    </List.Item>
                  ))}
                </List>
              )}
            </Stack>
          </Table.Td>
        </Table.Tr>
      ))}
    </SmallTable>
  );
}
