import type { ReactNode } from 'react';
import classes from './two-lines.module.css';

/** A cell that says one thing and, smaller, another; it may stand in a button or a link. */
export function TwoLines({ first, second }: { first: ReactNode; second?: ReactNode }): ReactNode {
  return (
    <span className={classes.lines}>
      <span className={classes.first}>{first}</span>
      {second !== undefined && second !== null && second !== '' && (
        <span className={classes.second}>{second}</span>
      )}
    </span>
  );
}
