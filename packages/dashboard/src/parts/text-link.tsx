import { Anchor, type AnchorProps } from '@mantine/core';
import { createLink, type LinkComponent } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';

type Props = AnchorProps & Omit<ComponentProps<'a'>, keyof AnchorProps>;

function Shape(props: Props): ReactNode {
  return <Anchor {...(props.inherit === true ? {} : { size: 'sm' })} {...props} />;
}

/** Text that opens a page. Inside a project, the URL has the `project` of its params. */
export const TextLink = createLink(Shape) as LinkComponent<typeof Shape, '/p/$project'>;
