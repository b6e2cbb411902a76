import type { ListName } from '@beckon/contract/dashboard';
import { type ReactNode, Suspense } from 'react';
import type { Failed } from './error-box.tsx';
import { lazyPart } from './load-part.ts';
import classes from './filter-box.module.css';

export type FilterBoxProps = {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  /** The list's error: shown here if it is about the filter. */
  fault?: Failed | null;
  label?: string;
  placeholder?: string;
  /** The list whose keys and values are completed. */
  list?: ListName;
};

const FilterBoxInner = lazyPart(() => import('./filter-box-inner.tsx'), 'FilterBoxInner');

/** The filter of all lists. It is loaded beside the rows, which a member reads first. */
export function FilterBox(props: FilterBoxProps): ReactNode {
  return (
    <Suspense fallback={<Waiting />}>
      <FilterBoxInner {...props} />
    </Suspense>
  );
}

/** The filter before it is loaded, in the same size. */
function Waiting(): ReactNode {
  return (
    <div className={classes.root}>
      <div className={classes.box} />
    </div>
  );
}
