import type { ReactNode } from 'react';
import classes from './two-lines.module.css';

/** A cell with a main line and a smaller second line. It can be used in a button or a link. */
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
