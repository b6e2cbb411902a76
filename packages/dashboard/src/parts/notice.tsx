import { Group, Paper, Stack, Text } from '@mantine/core';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

export type NoticeProps = { icon: LucideIcon; title: string; children?: ReactNode };

/** A note about the content below it, with an icon. */
export function Notice({ icon: Icon, title, children }: NoticeProps): ReactNode {
  return (
    <Paper withBorder p="sm" role="status">
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Icon size={18} aria-hidden="true" style={{ flexShrink: 0, marginTop: 2 }} />
        <Stack gap={2} style={{ minWidth: 0 }}>
          <Text size="sm" fw={600}>
            {title}
          </Text>
          {children !== undefined && (
            <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
              {children}
            </Text>
          )}
        </Stack>
      </Group>
    </Paper>
  );
}
