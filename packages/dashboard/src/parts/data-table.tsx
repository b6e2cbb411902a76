import type { LinkProps } from '@tanstack/react-router';
import { useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import {
  type CSSProperties,
  type ReactNode,
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { between, toggle } from './choose.ts';
import classes from './data-table.module.css';
import { ErrorBox } from './error-box.tsx';
import type { ListLook } from './list-look.ts';
import { formatCount, type ListOfRows } from './list.ts';
import { type Column, HeadRow, SkeletonRows, type Sort } from './table-head.tsx';
import { TableRow } from './table-row.tsx';
import { useRowKeys } from './use-row-keys.ts';

export type DataTableProps<Row> = {
  /** The name of the table, for screen readers and the help: "Emails". */
  label: string;
  columns: Column<Row>[];
  list: ListOfRows<Row>;
  rowKey: (row: Row) => string;
  /** The link of a row. */
  link?: (row: Row) => LinkProps;
  /** Instead of a link: opens something on this page. */
  onOpen?: (key: string) => void;
  current?: string | undefined;
  onCurrent?: (key: string | undefined) => void;
  chosen?: ReadonlySet<string>;
  onChosen?: (chosen: Set<string>) => void;
  sort?: Sort;
  onSort?: (sort: Sort) => void;
  /** The columns that the member hid, and the density. */
  look?: ListLook;
  empty?: ReactNode;
  /** Off if another table of this page uses the keyboard. */
  noKeys?: boolean;
  /** Fills the remaining height of the window. */
  fill?: boolean;
};

/** Above this number of rows the table is virtual. */
const VIRTUAL_ABOVE = 100;
const ROW_PX = 40;
const COMPACT_ROW_PX = 30;
/** Extra rows at both edges, so that fast scrolling shows no gap: 2,000 px/s are 33 px per frame. */
const OVERSCAN = 24;
/** A new table renders only the rows that are seen, and the others in pieces. */
const FIRST_OVERSCAN = 1;

export function DataTable<Row>(rawProps: DataTableProps<Row>): ReactNode {
  const [localCurrent, setLocalCurrent] = useState<string>();
  const { current = localCurrent, onCurrent = setLocalCurrent, empty } = rawProps;
  // A response is rendered in pieces of some milliseconds, so that a page of rows blocks nothing.
  const list = useDeferredValue(rawProps.list);
  const columns = useShownColumns(rawProps);
  const props = { ...rawProps, list, columns, current, onCurrent, keys: list.rows.map(rawProps.rowKey) };
  if (list.rows.length === 0) {
    if (list.error) return <ErrorBox error={list.error} retry={list.retry} />;
    if (!list.isPending) return empty ?? null;
  }
  return <Frame {...props} />;
}

/** The first column opens the row and is always shown. Stable, so that scrolling renders only the rows that come into view. */
function useShownColumns<Row>({ columns, look }: DataTableProps<Row>): Column<Row>[] {
  return useMemo(
    () => columns.filter(({ id }, at) => at === 0 || !look?.hidden.includes(id)),
    [columns, look?.hidden],
  );
}

type TableProps<Row> = DataTableProps<Row> & {
  keys: string[];
  current: string | undefined;
  onCurrent: (key: string | undefined) => void;
};

function Frame<Row>(props: TableProps<Row>): ReactNode {
  const { label, list, keys, chosen, look, fill = false } = props;
  const rowPx = look?.isCompact ? COMPACT_ROW_PX : ROW_PX;
  const scroll = useRef<HTMLDivElement>(null);
  const isVirtual = fill || list.hasMore || list.rows.length > VIRTUAL_ABOVE;
  const virtual = useVirtualizer({
    count: isVirtual ? list.rows.length : 0,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowPx,
    overscan: useDeferredValue(OVERSCAN, FIRST_OVERSCAN),
    getItemKey: (index) => keys[index] ?? index,
  });
  useRowKeys({
    ...props,
    reveal: (index) => reveal(scroll.current, isVirtual ? virtual : null, index),
  });
  return (
    <div className={frameClass(props)} style={frameStyle(props, isVirtual && !fill)}>
      <Outdated list={list} />
      <div
        ref={scroll}
        className={classes.scroll}
        role="table"
        tabIndex={0}
        aria-label={label}
        aria-rowcount={list.isAtLeast ? -1 : list.total + 1}
        aria-busy={list.isPending}
      >
        <HeadRow {...props} />
        {list.isPending ? (
          <SkeletonRows columns={props.columns} isChoosing={chosen !== undefined} />
        ) : (
          <Body {...props} items={isVirtual ? virtual.getVirtualItems() : null} virtual={virtual} />
        )}
      </div>
      <More list={list} label={label} />
    </div>
  );
}

/** An error beside rows that were loaded before. The filter shows its own error. */
function Outdated<Row>({ list: { error, retry } }: { list: ListOfRows<Row> }): ReactNode {
  if (!error || error.field === 'filter') return null;
  return <ErrorBox error={error} title="This list may be outdated" retry={retry} />;
}

function frameClass<Row>({ fill, chosen, look }: TableProps<Row>): string {
  return [
    classes.frame,
    fill && classes.filled,
    chosen && classes.withChoice,
    look?.isCompact && classes.compact,
  ]
    .filter(Boolean)
    .join(' ');
}

/** The grid of all rows. `minmax(0, 2fr)` lets a column shrink below its content: long texts are cut. */
function frameStyle<Row>({ columns, chosen }: TableProps<Row>, scrolls: boolean): CSSProperties {
  const tracks = columns.map(({ width = '1fr' }) => width.replace(/^([\d.]+)fr$/, 'minmax(0, $1fr)'));
  return {
    '--columns': [...(chosen ? ['20px'] : []), ...tracks].join(' '),
    ...(scrolls ? { '--scroll-max': '70vh' } : {}),
  } as CSSProperties;
}

/** Scrolls the row into view, as little as possible. */
function reveal(container: HTMLElement | null, virtual: Virtual | null, index: number): void {
  if (virtual) virtual.scrollToIndex(index, { align: 'auto' });
  else container?.querySelector(`[data-index="${index}"]`)?.scrollIntoView({ block: 'nearest' });
}

type Virtual = ReturnType<typeof useVirtualizer<HTMLDivElement, Element>>;
function Body<Row>({
  items,
  virtual,
  ...props
}: TableProps<Row> & { items: VirtualItem[] | null; virtual: Virtual }): ReactNode {
  const { list } = props;
  const { hasMore, isLoadingMore, loadMore, rows } = list;
  const lastSeen = items?.at(-1)?.index ?? rows.length - 1;
  const isNearEnd = items !== null && lastSeen >= rows.length - OVERSCAN;
  useEffect(() => {
    if (isNearEnd && hasMore && !isLoadingMore) loadMore();
  }, [isNearEnd, hasMore, isLoadingMore, loadMore]);
  const className = list.isStale ? `${classes.body} ${classes.stale}` : classes.body;
  const onChoose = useChoosing(props);
  const rowOf = (index: number): ReactNode => {
    const [row, key] = [rows[index], props.keys[index]];
    if (row === undefined || key === undefined) return null;
    const { columns, label, link, onOpen, chosen, current } = props;
    return (
      <TableRow
        key={key}
        rowId={key}
        isCurrent={key === current}
        isChosen={chosen ? chosen.has(key) : undefined}
        measure={items === null ? undefined : virtual.measureElement}
        {...{ row, index, columns, label, link, onOpen, onChoose }}
      />
    );
  };
  if (items === null)
    return (
      <div role="rowgroup" className={className}>
        {rows.map((_, index) => rowOf(index))}
      </div>
    );
  return (
    <div role="rowgroup" className={className} style={{ height: virtual.getTotalSize() }}>
      <div className={classes.virtual} style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
        {items.map(({ index }) => rowOf(index))}
      </div>
    </div>
  );
}

/** A stable function, so that only changed rows render again. */
function useChoosing<Row>(props: TableProps<Row>): (key: string, isRange: boolean) => void {
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });
  return useCallback((key, isRange) => choose(latest.current, key, isRange), []);
}

/** With Shift: selects all rows from the current one to this one. */
function choose<Row>(props: TableProps<Row>, key: string, isRange: boolean): void {
  const { keys, chosen = new Set<string>(), current, onChosen, onCurrent } = props;
  if (isRange && current !== undefined) onChosen?.(new Set([...chosen, ...between(keys, current, key)]));
  else onChosen?.(toggle(chosen, key));
  onCurrent(key);
}

function More<Row>({ list, label }: { list: ListOfRows<Row>; label: string }): ReactNode {
  if (list.isPending) return null;
  const { rows, total, isAtLeast, hasMore, isLoadingMore, loadMore } = list;
  const counted = Math.max(total, rows.length);
  const all = formatCount(counted, isAtLeast);
  const text = hasMore ? `Showing ${formatCount(rows.length)} of ${all}` : `${formatCount(counted)} in total`;
  return (
    <div className={classes.foot} aria-live="polite" aria-label={`${label}, count`}>
      {isLoadingMore ? 'Loading…' : text}
      {hasMore && !isLoadingMore && (
        <>
          {' · '}
          <button type="button" className={classes.sorter} onClick={loadMore}>
            Load more
          </button>
        </>
      )}
    </div>
  );
}
