import { Anchor } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { Compass } from 'lucide-react';
import type { ReactNode } from 'react';
import { Empty } from './empty.tsx';
import type { Failed } from './error-box.tsx';

/** The list of an item whose path is not below it. */
const LISTS: Record<string, string> = { drafts: 'review' };

/** Says that an item does not exist, and leads to its list: `/p/1/rules/x` to the rules. */
export function NotHere({ error }: { error: Failed }): ReactNode {
  const { pathname } = useLocation();
  const [, p = '', project = '', screen = ''] = pathname.split('/');
  const list = `/${p}/${project}/${LISTS[screen] ?? screen}`;
  return (
    <Empty
      icon={Compass}
      title="Not found"
      action={<Anchor renderRoot={(props) => <Link to={list} {...props} />}>Back to the list</Anchor>}
    >
      {error.message} It may have been deleted.
    </Empty>
  );
}
