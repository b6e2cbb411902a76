import { Stack, Text } from '@mantine/core';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Command } from './command.tsx';

export type EmptyProps = {
  icon?: LucideIcon;
  /** The state: "No emails yet". */
  title: string;
  /** The content that belongs here, and how to get it. */
  children?: ReactNode;
  /** A command to copy. */
  command?: string;
  /** Or a button. */
  action?: ReactNode;
};

/** An empty state with the next action. */
export function Empty({ icon: Icon, title, children, command, action }: EmptyProps): ReactNode {
  return (
    <Stack align="center" gap="sm" py={56} px="md" w="100%" maw={560} mx="auto" ta="center">
      {Icon && <Icon size={28} strokeWidth={1.5} aria-hidden="true" color="var(--mantine-color-dimmed)" />}
      <Text fw={600} component="h2" size="md">
        {title}
      </Text>
      {children !== undefined && (
        <Text c="dimmed" size="sm" component="div">
          {children}
        </Text>
      )}
      {command !== undefined && <Command text={command} />}
      {action}
    </Stack>
  );
}
