import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import classes from './person.module.css';

/** Links to a user. Names are chosen by users, so the id is always shown too. */
export function Person({ id, name }: { id: string; name?: string | null }): ReactNode {
  const { project = '' } = useParams({ strict: false });
  return (
    <Link to="/p/$project/users/$user" params={{ project, user: id }} className={classes.person}>
      {name ? (
        <>
          {name} <span className={classes.id}>{id}</span>
        </>
      ) : (
        id
      )}
    </Link>
  );
}
