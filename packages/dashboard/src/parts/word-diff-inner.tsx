import { diffWordsWithSpace } from 'diff';
import { type ReactNode, useMemo } from 'react';
import type { WordDiffProps } from './word-diff.tsx';
import classes from './word-diff.module.css';

/** Above this length a diff by words would take seconds. */
const DIFF_MAX_MS = 500;

export default function WordDiffInner({ before, after, label = 'Difference' }: WordDiffProps): ReactNode {
  const pieces = useMemo(
    () =>
      diffWordsWithSpace(before, after, { timeout: DIFF_MAX_MS }) ?? [
        { value: before, removed: true, added: false },
        { value: after, added: true, removed: false },
      ],
    [before, after],
  );
  return (
    <div className={classes.text} role="group" aria-label={label}>
      {before === after && <p className={classes.same}>No difference.</p>}
      {pieces.map(({ value, added, removed }, index) => {
        if (added) return <ins key={index}>{value}</ins>;
        return removed ? <del key={index}>{value}</del> : <span key={index}>{value}</span>;
      })}
    </div>
  );
}
