import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Compass } from 'lucide-react';
import { type ReactNode, use } from 'react';
import { Empty } from './empty.tsx';
import type { Failed } from './error-box.tsx';
import { PagePlace } from './page.tsx';

/** Says that an item does not exist, and leads to the page above: from a rule to the rules. */
export function NotHere({ error }: { error: Failed }): ReactNode {
  const list = use(PagePlace).trail.at(-1);
  return (
    <Empty
      icon={Compass}
      title="Not found"
      action={
        list && <Anchor renderRoot={(props) => <Link {...list.link} {...props} />}>Back to the list</Anchor>
      }
    >
      {error.message} It may have been deleted.
    </Empty>
  );
}
