import { Skeleton } from '@mantine/core';
import { ArrowDown, ArrowUp, ArrowUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
import classes from './data-table.module.css';

export type Column<Row> = {
  id: string;
  title: string;
  /** The title is for screen readers only: a column of menus. */
  visuallyHidden?: boolean;
  /** A track of a grid: `120px`, `2fr`. */
  width?: string;
  align?: 'right';
  /** The server can sort by it. `up`: ascending first, as names are. */
  sort?: true | 'up';
  /** Omitted below 640 px. */
  narrow?: 'hide';
  wraps?: boolean;
  cell: (row: Row) => ReactNode;
};
export type Sort = { by: string; down: boolean };

type HeadProps<Row> = {
  columns: Column<Row>[];
  keys: string[];
  label: string;
  chosen?: ReadonlySet<string>;
  onChosen?: (chosen: Set<string>) => void;
  sort?: Sort;
  onSort?: (sort: Sort) => void;
};

export function HeadRow<Row>({
  columns,
  keys,
  label,
  chosen,
  onChosen,
  sort,
  onSort,
}: HeadProps<Row>): ReactNode {
  const count = chosen ? keys.filter((key) => chosen.has(key)).length : 0;
  const isAll = count > 0 && count === keys.length;
  return (
    <div role="rowgroup" style={{ display: 'contents' }}>
      <div role="row" aria-rowindex={1} className={`${classes.row} ${classes.head}`}>
        {chosen && (
          <div role="columnheader" className={classes.cell}>
            <input
              type="checkbox"
              className={classes.box}
              aria-label={`Select all ${label} shown`}
              checked={isAll}
              ref={(box) => {
                if (box) box.indeterminate = count > 0 && !isAll;
              }}
              onChange={() => onChosen?.(new Set(isAll ? [] : keys))}
            />
          </div>
        )}
        {columns.map((column) => (
          <div
            key={column.id}
            role="columnheader"
            className={cellClass(column)}
            {...(column.sort && onSort ? { 'aria-sort': sortOf(column.id, sort) } : {})}
          >
            {column.sort && onSort ? (
              <Sorter column={column} sort={sort} onSort={onSort} />
            ) : (
              <Heading {...column} />
            )}
          </div>
        ))}
      </div>
    </div>
  );
}

function Heading({ title, visuallyHidden = false }: { title: string; visuallyHidden?: boolean }): ReactNode {
  return visuallyHidden ? <span className="beckon-visually-hidden">{title}</span> : title;
}

type SorterProps<Row> = { column: Column<Row>; sort: Sort | undefined; onSort: (sort: Sort) => void };

function Sorter<Row>({ column: { id, title, sort: first }, sort, onSort }: SorterProps<Row>): ReactNode {
  const isBy = sort?.by === id;
  const Icon = isBy ? (sort.down ? ArrowDown : ArrowUp) : ArrowUpDown;
  return (
    <button
      type="button"
      className={classes.sorter}
      onClick={() => onSort({ by: id, down: isBy ? !sort.down : first !== 'up' })}
    >
      {title}
      <Icon size={12} aria-hidden="true" />
    </button>
  );
}

function sortOf(id: string, sort: Sort | undefined): 'none' | 'ascending' | 'descending' {
  if (sort?.by !== id) return 'none';
  return sort.down ? 'descending' : 'ascending';
}

export function cellClass<Row>({ align, narrow, wraps }: Column<Row>): string {
  return [
    classes.cell,
    align === 'right' && classes.right,
    narrow === 'hide' && classes.hidden,
    wraps === true && classes.wraps,
  ]
    .filter(Boolean)
    .join(' ');
}

const SKELETON_ROWS = 8;

export function SkeletonRows<Row>({
  columns,
  isChoosing,
}: {
  columns: Column<Row>[];
  isChoosing: boolean;
}): ReactNode {
  return (
    <div aria-hidden="true">
      {Array.from({ length: SKELETON_ROWS }, (_, row) => (
        <div key={row} className={classes.row}>
          {isChoosing && <Skeleton height={16} width={16} />}
          {columns.map((column, at) => (
            <div key={column.id} className={cellClass(column)}>
              <Skeleton height={12} width={`${80 - ((row * 13 + at * 29) % 45)}%`} />
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}
