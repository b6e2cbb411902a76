import { Stack, type StackProps, Title } from '@mantine/core';
import type { ReactNode } from 'react';

type Props = {
  title: ReactNode;
  /** Of the heading: links lead to it, and it names the section. */
  id?: string;
  gap?: StackProps['gap'];
  maw?: number;
  children: ReactNode;
};

/** A section of a page with its heading. */
export function Titled({ title, id, gap = 'xs', maw, children }: Props): ReactNode {
  const name = id === undefined ? {} : { id };
  return (
    <Stack
      gap={gap}
      component="section"
      {...(id === undefined ? {} : { 'aria-labelledby': id })}
      {...(maw === undefined ? {} : { maw })}
    >
      <Title order={2} size="h5" {...name}>
        {title}
      </Title>
      {children}
    </Stack>
  );
}
