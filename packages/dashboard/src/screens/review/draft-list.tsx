import { Button, Skeleton, UnstyledButton } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import type { DraftListed } from '@beckon/contract/dashboard';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { type ReactNode, type RefObject, useCallback, useDeferredValue, useEffect, useRef } from 'react';
import { ErrorBox, formatCount } from '../../parts/index.ts';
import type { List } from '../../api/index.ts';
import { DraftRow, type RowHandlers } from './draft-row.tsx';
import { type Fold, foldWords } from './folds.ts';
import { GROUP_TITLES } from './groups.ts';
import type { Item } from './items.ts';
import classes from './review.module.css';

export type DraftListProps = RowHandlers & {
  list: List<DraftListed>;
  items: Item[];
  /** Rows that are loaded would not be seen, so no more are loaded by scrolling. */
  endsFolded: boolean;
  current: string | undefined;
  chosen: ReadonlySet<string>;
  onFold: (fold: Fold) => void;
  /** Acts on all drafts of the fold. Undefined: the member may not. */
  onActOnFold: ((fold: Fold) => void) | undefined;
};

const ROW_PX = 84;
const HEAD_PX = 30;
const FOLD_PX = 46;
/** Extra rows at both edges: 2,000 px/s are 33 px per frame, and a late frame must not show a gap. */
const OVERSCAN = 20;
/** The distance from the end at which the next page is loaded. */
const AHEAD = 60;

const SIZES: Record<Item['kind'], number> = { head: HEAD_PX, fold: FOLD_PX, row: ROW_PX };

const NONE: Item[] = [];

const LIST_ID = 'emails-that-wait';

export function focusList(): void {
  document.getElementById(LIST_ID)?.focus({ preventScroll: true });
}

/** All waiting drafts by deadline, as a virtual list. */
export function DraftList(props: DraftListProps): ReactNode {
  const { list, endsFolded, current } = props;
  // A response is rendered in pieces of some milliseconds, so that a page of rows blocks nothing.
  const items = useDeferredValue(props.items, NONE);
  const scroll = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroll.current,
    estimateSize: (index) => SIZES[items[index]?.kind ?? 'row'],
    getItemKey: (index) => keyOf(items[index]),
    overscan: OVERSCAN,
  });
  const seen = virtual.getVirtualItems();
  const last = seen.at(-1)?.index ?? 0;
  const { hasMore, loadMore } = list;
  useEffect(() => {
    if (hasMore && !endsFolded && items.length > 0 && last >= items.length - AHEAD) loadMore();
  }, [hasMore, endsFolded, last, items.length, loadMore]);
  useRevealed(virtual, { scroll, items, current });
  const handlers = useStableHandlers(props);
  return (
    <>
      {list.error && <ErrorBox error={list.error} title="This list may be outdated" retry={list.retry} />}
      <div
        ref={scroll}
        id={LIST_ID}
        className={classes.list}
        role="grid"
        tabIndex={0}
        aria-label="Drafts to review"
        aria-multiselectable="true"
        aria-rowcount={list.hasMore || list.isAtLeast ? -1 : items.length}
        {...(current === undefined ? {} : { 'aria-activedescendant': `draft-${current}` })}
      >
        <div className={classes.all} style={{ height: virtual.getTotalSize() }} role="presentation">
          {seen.map(({ index, key, start, size }) => {
            const item = items[index];
            return (
              <div
                key={key}
                className={classes.slot}
                role="presentation"
                style={{ height: size, transform: `translateY(${start}px)` }}
              >
                {item && <Slot {...props} {...handlers} item={item} at={index + 1} />}
              </div>
            );
          })}
        </div>
      </div>
      {list.isLoadingMore && <div className={classes.more}>Loading…</div>}
    </>
  );
}

function keyOf(item: Item | undefined): string {
  if (!item) return '';
  if (item.kind === 'row') return item.row.id;
  return item.kind === 'head' ? item.group : `fold ${item.fold.reason}`;
}

type Placed = { measurementsCache: { start: number; end: number }[] };
type RevealOptions = { scroll: RefObject<HTMLDivElement | null>; items: Item[]; current: string | undefined };

/** Scrolls the current row and its group title into view, as little as possible. */
function useRevealed(virtual: Placed, { scroll, items, current }: RevealOptions): void {
  const latest = useRef({ virtual, items });
  useEffect(() => {
    latest.current = { virtual, items };
  });
  const hasItems = items.length > 0;
  useEffect(() => {
    const { items: all, virtual: placed } = latest.current;
    const index = all.findIndex((item) => item.kind === 'row' && item.row.id === current);
    const [container, at] = [scroll.current, placed.measurementsCache[index]];
    if (!container || !at) return;
    const start = at.start - (all[index - 1]?.kind === 'head' ? HEAD_PX : 0);
    if (start < container.scrollTop) container.scrollTop = start;
    else if (at.end > container.scrollTop + container.clientHeight)
      container.scrollTop = at.end - container.clientHeight;
  }, [current, hasItems, scroll]);
}

/** Functions that stay the same, so that scrolling renders only the rows that come into view. */
function useStableHandlers(props: RowHandlers): RowHandlers {
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });
  return {
    onCurrent: useCallback((id) => latest.current.onCurrent(id), []),
    onChoose: useCallback((id, isChosen) => latest.current.onChoose(id, isChosen), []),
  };
}

function Slot({ item, at, ...props }: DraftListProps & { item: Item; at: number }): ReactNode {
  if (item.kind === 'row') {
    const { current, chosen, onCurrent, onChoose } = props;
    const { id } = item.row;
    return (
      <DraftRow
        row={item.row}
        at={at}
        isCurrent={current === id}
        isChosen={chosen.has(id)}
        {...{ onCurrent, onChoose }}
      />
    );
  }
  if (item.kind === 'fold') return <FoldRow fold={item.fold} at={at} {...props} />;
  return (
    <div role="row" aria-rowindex={at} className={classes.head}>
      <span role="gridcell">{GROUP_TITLES[item.group]}</span>
    </div>
  );
}

type FoldRowProps = Pick<DraftListProps, 'onFold' | 'onActOnFold'> & { fold: Fold; at: number };

/** Several held drafts as one row: "16 without an address", with the action on all of them. */
function FoldRow({ fold, at, onFold, onActOnFold }: FoldRowProps): ReactNode {
  const words = foldWords(fold);
  const Chevron = fold.isOpen ? ChevronDown : ChevronRight;
  return (
    <div role="row" aria-rowindex={at} className={classes.fold}>
      <div role="gridcell" className={classes.foldTitle}>
        <UnstyledButton aria-expanded={fold.isOpen} onClick={() => onFold(fold)}>
          <Chevron size={15} aria-hidden="true" />
          <span>{words}</span>
        </UnstyledButton>
      </div>
      {onActOnFold && (
        <div role="gridcell">
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`${fold.needsAction ? 'Skip all' : 'Select'}: ${words}`}
            onClick={() => onActOnFold(fold)}
          >
            {fold.needsAction ? 'Skip all' : 'Select'}
          </Button>
        </div>
      )}
    </div>
  );
}

export function ListSkeleton(): ReactNode {
  return (
    <div aria-busy="true" className={classes.list}>
      {Array.from({ length: 9 }, (_, index) => (
        <div key={index} className={classes.row} style={{ height: ROW_PX }}>
          <Skeleton height={14} width={14} mt={3} />
          <div className={classes.words}>
            <Skeleton height={13} width="70%" />
            <Skeleton height={13} width="90%" mt={8} />
            <Skeleton height={11} width="40%" mt={8} />
          </div>
        </div>
      ))}
    </div>
  );
}

/** Below the list: the count, recent actions of others, and new drafts. */
export function ListFoot({
  list,
  visibleCount,
  note,
  isOld,
  renew,
  endsFolded,
}: {
  list: List<DraftListed>;
  visibleCount: number;
  note: string | null;
  isOld: boolean;
  renew: () => void;
  endsFolded: boolean;
}): ReactNode {
  const total = Math.max(0, list.total - (list.rows.length - visibleCount));
  return (
    <div className={classes.foot}>
      <span aria-live="polite">
        {note ??
          `${formatCount(total)}${list.isAtLeast ? ' or more' : ''} ${total === 1 ? 'draft' : 'drafts'}`}
      </span>
      {endsFolded && list.hasMore && (
        <Button size="compact-xs" variant="default" loading={list.isLoadingMore} onClick={list.loadMore}>
          Load more
        </Button>
      )}
      {isOld && (
        <Button size="compact-xs" variant="default" onClick={renew}>
          Show new drafts
        </Button>
      )}
    </div>
  );
}
