import { Paper, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Muted } from './muted.tsx';

/** A section of a form, with a heading and a description. */
export function Section({
  title,
  text,
  children,
}: {
  title: string;
  text?: string;
  children: ReactNode;
}): ReactNode {
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Title order={2} size="h5" mb={text === undefined ? 'sm' : 2}>
        {title}
      </Title>
      {text !== undefined && <Muted mb="sm">{text}</Muted>}
      {children}
    </Paper>
  );
}
