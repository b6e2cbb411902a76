import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import classes from './person.module.css';

/** Leads to a user. Their names are theirs to choose, so the id always stands beside. */
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
