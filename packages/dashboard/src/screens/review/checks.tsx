import { List, Stack, Text } from '@mantine/core';
import type { EmailCheck } from '@beckon/contract/dashboard';
import { CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Mark, type MarkProps } from '../../parts/index.ts';
import { checkName } from '../../parts/check-names.ts';

const MARKS: Record<EmailCheck['status'], MarkProps> = {
  error: { icon: CircleAlert, tone: 'bad', label: 'Error' },
  warning: { icon: TriangleAlert, tone: 'warn', label: 'Warning' },
  ok: { icon: CircleCheck, tone: 'good', label: 'OK' },
};
const WEIGHT: Record<EmailCheck['status'], number> = { error: 0, warning: 1, ok: 2 };

/** The problems of an email, the worst first, with their fixes. */
export function Checks({ checks }: { checks: EmailCheck[] }): ReactNode {
  const ordered = checks.toSorted((a, b) => WEIGHT[a.status] - WEIGHT[b.status]);
  return (
    <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: 'none' }}>
      {ordered.map(({ name, status, message, detail = [] }) => (
        <Stack component="li" key={name} gap={2}>
          <Mark {...MARKS[status]} label={`${MARKS[status].label}: ${checkName(name)}`} />
          <Text size="sm">{message}</Text>
          {detail.length > 0 && (
            <List size="xs" c="dimmed">
              {detail.map((line) => (
                <List.Item key={line} style={{ overflowWrap: 'anywhere' }}>
                  {line}
                </List.Item>
              ))}
            </List>
          )}
        </Stack>
      ))}
    </Stack>
  );
}
