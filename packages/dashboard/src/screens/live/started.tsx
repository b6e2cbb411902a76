import type { FeedItem } from '@beckon/contract/dashboard';
import { Fragment, type ReactNode } from 'react';
import { TextLink } from '../../parts/text-link.tsx';

/** The rules that an event started, with links to them. */
export function Started({ rules }: { rules: NonNullable<FeedItem['started']> }): ReactNode {
  return (
    <>
      {'started: '}
      {rules.map(({ id, name }, at) => (
        <Fragment key={id}>
          {at > 0 && ', '}
          <TextLink to="/p/$project/rules/$rule" params={{ rule: id }}>
            {name}
          </TextLink>
        </Fragment>
      ))}
    </>
  );
}
