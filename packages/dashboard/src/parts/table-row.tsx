import { Link, type LinkProps } from '@tanstack/react-router';
import { memo, type MouseEvent as ReactMouseEvent, type ReactNode } from 'react';
import classes from './data-table.module.css';
import { cellClass, type Column } from './table-head.tsx';

type TableRowProps<Row> = {
  row: Row;
  rowId: string;
  index: number;
  columns: Column<Row>[];
  label: string;
  isCurrent: boolean;
  /** `undefined`: the table has no selection. */
  isChosen: boolean | undefined;
  link: ((row: Row) => LinkProps) | undefined;
  onOpen: ((key: string) => void) | undefined;
  onChoose: (key: string, isRange: boolean) => void;
  measure: ((element: Element | null) => void) | undefined;
};

/** Scrolling renders only the rows that come into view. */
export const TableRow = memo(PlainRow) as typeof PlainRow;

function PlainRow<Row>(props: TableRowProps<Row>): ReactNode {
  const { row, rowId, index, columns, isCurrent, isChosen, link, onOpen, measure } = props;
  const className = [
    classes.row,
    classes.item,
    (link ?? onOpen) && classes.linked,
    isCurrent && classes.current,
    isChosen === true && classes.chosen,
  ]
    .filter(Boolean)
    .join(' ');
  return (
    <div
      role="row"
      className={className}
      onClick={link || onOpen ? openRow : undefined}
      ref={measure ?? null}
      data-index={index}
      data-row={rowId}
      aria-rowindex={index + 2}
      {...(isChosen === undefined ? {} : { 'aria-selected': isChosen })}
      {...(isCurrent ? { 'aria-current': 'true' as const } : {})}
    >
      {isChosen !== undefined && <ChooseCell {...props} isChosen={isChosen} />}
      {columns.map((column, at) => (
        <div role="cell" key={column.id} className={cellClass(column)}>
          {at === 0 ? <Opener {...props} row={row} /> : column.cell(row)}
        </div>
      ))}
    </div>
  );
}

/**
 * A click anywhere in a row opens it, as a click on its first cell does, with the same modifier keys. An element over the row would do
 * the same, but its text could not be selected, nor the times hovered.
 */
function openRow(event: ReactMouseEvent<HTMLElement>): void {
  const { currentTarget: row, target, ctrlKey, metaKey, shiftKey } = event;
  const isSelecting = document.getSelection()?.isCollapsed === false;
  if (isSelecting || !(target instanceof Element) || !row.contains(target)) return;
  if (target.closest(CONTROLS) !== null) return;
  const opener = row.querySelector(`.${classes.opener}`);
  opener?.dispatchEvent(
    new MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey }),
  );
}

const CONTROLS = 'a, button, input, label, select, summary, textarea';

type ChooseCellProps = {
  rowId: string;
  index: number;
  label: string;
  isChosen: boolean;
  onChoose: (key: string, isRange: boolean) => void;
};

/** A native checkbox: there are many, and they mount and unmount while scrolling. */
function ChooseCell({ rowId, index, label, isChosen, onChoose }: ChooseCellProps): ReactNode {
  return (
    <div role="cell" className={classes.cell}>
      <input
        type="checkbox"
        className={classes.box}
        aria-label={`Select row ${index + 1} of ${label}`}
        checked={isChosen}
        onChange={(event) => onChoose(rowId, (event.nativeEvent as MouseEvent).shiftKey)}
      />
    </div>
  );
}

function Opener<Row>({ columns, row, rowId, link, onOpen }: TableRowProps<Row>): ReactNode {
  const content = columns[0]?.cell(row);
  if (link)
    return (
      <Link {...link(row)} className={classes.opener}>
        {content}
      </Link>
    );
  if (!onOpen) return content;
  return (
    <button type="button" className={`${classes.sorter} ${classes.opener}`} onClick={() => onOpen(rowId)}>
      {content}
    </button>
  );
}
