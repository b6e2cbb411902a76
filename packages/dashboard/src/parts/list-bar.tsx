import { Button } from '@mantine/core';
import type { ListName } from '@beckon/contract/dashboard';
import { SlidersHorizontal } from 'lucide-react';
import type { ReactNode } from 'react';
import type { DisplayProps } from './display-menu.tsx';
import { DownloadButton } from './download-button.tsx';
import type { Failed } from './error-box.tsx';
import { FilterBox } from './filter-box.tsx';
import { laterMenu } from './later-menu.tsx';
import classes from './list-bar.module.css';
import { type CommonView, Views } from './views.tsx';

const DisplayMenu = laterMenu(async () => (await import('./display-menu.tsx')).DisplayMenu);

type ListBarProps = {
  list: ListName;
  filter: string | undefined;
  onFilter: (filter: string | undefined) => void;
  /** The list's error: the filter shows it if it is about the filter. */
  fault?: Failed | null;
  label: string;
  placeholder?: string;
  /** Filters that every project needs, before the saved ones. */
  common?: readonly CommonView[];
  /** Omitted for a list of few columns. */
  display?: DisplayProps;
  /** The URL of the list as CSV, with the filter and the order. Omitted if the role does not allow it. */
  csv?: string | undefined;
  /** Actions on selected rows. */
  children?: ReactNode;
};

/** The tools above a list: filter, saved views, display and CSV. */
export function ListBar(props: ListBarProps): ReactNode {
  const { list, filter, onFilter, fault = null, label, placeholder, common, display, csv, children } = props;
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
        <Views list={list} filter={filter} onChoose={onFilter} common={common} />
        {display && (
          <DisplayMenu
            {...display}
            button={
              <Button variant="default" leftSection={<SlidersHorizontal size={14} aria-hidden="true" />}>
                Display
              </Button>
            }
          />
        )}
        {csv !== undefined && <DownloadButton href={csv}>CSV</DownloadButton>}
        {children}
      </div>
    </div>
  );
}
