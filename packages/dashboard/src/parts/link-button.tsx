import { Button, type ButtonProps } from '@mantine/core';
import { createLink, type LinkComponent } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';

type Props = ButtonProps & Omit<ComponentProps<'a'>, keyof ButtonProps>;

function Shape({ variant = 'default', ...rest }: Props): ReactNode {
  return <Button component="a" variant={variant} {...rest} />;
}

/** A button that opens a page. The main one of a page has the variant `filled`. Inside a project, the URL has the `project` of its params. */
export const LinkButton = createLink(Shape) as LinkComponent<typeof Shape, '/p/$project'>;
