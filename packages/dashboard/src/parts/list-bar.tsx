import type { ListName } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { DisplayMenu, type DisplayProps } from './display-menu.tsx';
import { DownloadButton } from './download-button.tsx';
import type { Failed } from './error-box.tsx';
import { FilterBox } from './filter-box.tsx';
import classes from './list-bar.module.css';
import { type CommonView, Views } from './views.tsx';

export type ListBarProps = {
  list: ListName;
  filter: string | undefined;
  onFilter: (filter: string | undefined) => void;
  /** The list's error: the filter shows it if it is about the filter. */
  fault?: Failed | null;
  label: string;
  placeholder?: string;
  /** Filters that every project needs, before the saved ones. */
  common?: readonly CommonView[];
  /** The columns that can be hidden, and the order; omitted for a list of few columns. */
  display?: DisplayProps;
  /** The URL of the list as CSV, with the filter and the order. Omitted if the role does not allow it. */
  csv?: string | undefined;
  /** Actions on selected rows. */
  children?: ReactNode;
};

/** The tools above a list: filter, saved views, display and CSV. */
export function ListBar(props: ListBarProps): ReactNode {
  const { list, filter, onFilter, fault, label, placeholder, common, display, csv, children } = props;
  return (
    <div className={classes.bar}>
      <FilterBox
        value={filter}
        onChange={onFilter}
        fault={fault ?? null}
        label={label}
        list={list}
        {...(placeholder === undefined ? {} : { placeholder })}
      />
      <div className={classes.tools}>
        <Views list={list} filter={filter} onChoose={onFilter} {...(common ? { common } : {})} />
        {display && <DisplayMenu {...display} />}
        {csv !== undefined && <DownloadButton href={csv}>CSV</DownloadButton>}
        {children}
      </div>
    </div>
  );
}
