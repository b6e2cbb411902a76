import type { ListName } from '@beckon/contract/dashboard';
import { Search } from 'lucide-react';
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
export function FilterBox({ placeholder = 'Search or filter', ...props }: FilterBoxProps): ReactNode {
  return (
    <Suspense fallback={<Waiting text={props.value ?? placeholder} />}>
      <FilterBoxInner {...props} placeholder={placeholder} />
    </Suspense>
  );
}

/** The filter before it is loaded, in the same size. */
function Waiting({ text }: { text: string }): ReactNode {
  return (
    <div className={classes.root} aria-hidden="true">
      <div className={classes.box}>
        <Search size={15} className={classes.icon} />
        <input className={classes.input} disabled placeholder={text} />
      </div>
    </div>
  );
}
