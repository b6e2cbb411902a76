import { Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Page } from '../../parts/index.ts';

/** A page with one form. */
export function Narrow({
  title,
  text,
  children,
}: {
  title: string;
  text?: ReactNode | undefined;
  children: ReactNode;
}): ReactNode {
  return (
    <Stack maw={440} mx="auto">
      <Page title={title}>
        {text !== undefined && (
          <Text size="sm" c="dimmed" mb="md" component="div">
            {text}
          </Text>
        )}
        <Paper withBorder p="lg">
          {children}
        </Paper>
      </Page>
    </Stack>
  );
}
