import { Button } from '@mantine/core';
import { Bookmark, SlidersHorizontal } from 'lucide-react';
import { lazy, type ReactNode, Suspense } from 'react';
import { DownloadButton } from './download-button.tsx';
import type { Failed } from './error-box.tsx';
import { FilterBox } from './filter-box.tsx';
import classes from './list-bar.module.css';
import type { ListMenusProps } from './list-menus.tsx';

const ListMenus = lazy(async () => ({ default: (await import('./list-menus.tsx')).ListMenus }));

/** `common`: filters that every project needs, before the saved ones. `display`: omitted for a list of few columns. */
export type ListBarProps = ListMenusProps & {
  /** The list's error: the filter shows it if it is about the filter. */
  fault?: Failed | null;
  label: string;
  placeholder?: string;
  /** The URL of the list as CSV, with the filter and the order. Omitted if the role does not allow it. */
  csv?: string | undefined;
  /** Actions on selected rows. */
  children?: ReactNode;
};

/** The tools above a list: filter, saved views, display and CSV. */
export function ListBar(props: ListBarProps): ReactNode {
  const { fault = null, label, placeholder, csv, children, ...menus } = props;
  const { list, filter, onFilter, display } = menus;
  return (
    <div className={classes.bar}>
      <FilterBox
        value={filter}
        onChange={onFilter}
        fault={fault}
        label={label}
        list={list}
        {...(placeholder === undefined ? {} : { placeholder })}
      />
      <div className={classes.tools}>
        <Suspense fallback={<Waiting hasDisplay={display !== undefined} />}>
          <ListMenus {...menus} />
        </Suspense>
        {csv !== undefined && <DownloadButton href={csv}>CSV</DownloadButton>}
        {children}
      </div>
    </div>
  );
}

/** The menus before they are loaded, in the same size. */
function Waiting({ hasDisplay }: { hasDisplay: boolean }): ReactNode {
  return (
    <>
      <Button variant="default" disabled leftSection={<Bookmark size={14} aria-hidden="true" />}>
        Views
      </Button>
      {hasDisplay && (
        <Button variant="default" disabled leftSection={<SlidersHorizontal size={14} aria-hidden="true" />}>
          Display
        </Button>
      )}
    </>
  );
}
