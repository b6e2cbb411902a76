import { Button, Checkbox, Skeleton, UnstyledButton } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import type { DraftListed } from '@beckon/contract/dashboard';
import { ChevronDown, ChevronRight, Pencil } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { Deadline, ErrorBox, formatCount, Mark, When } from '../../parts/index.ts';
import type { List } from '../../api/index.ts';
import { type Fold, foldWords } from './folds.ts';
import { GROUP_TITLES } from './groups.ts';
import type { Item } from './items.ts';
import { StateMark } from './state-mark.tsx';
import classes from './review.module.css';

export type DraftListProps = {
  list: List<DraftListed>;
  items: Item[];
  /** Rows that are loaded would not be seen, so no more are loaded by scrolling. */
  endsFolded: boolean;
  current: string | undefined;
  onCurrent: (id: string) => void;
  chosen: ReadonlySet<string>;
  onChoose: (id: string, isChosen: boolean) => void;
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

const LIST_ID = 'emails-that-wait';

export function focusList(): void {
  document.getElementById(LIST_ID)?.focus({ preventScroll: true });
}

/** All waiting drafts by deadline, as a virtual list. */
export function DraftList(props: DraftListProps): ReactNode {
  const { list, items, endsFolded, current } = props;
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
    if (hasMore && !endsFolded && last >= items.length - AHEAD) loadMore();
  }, [hasMore, endsFolded, last, items.length, loadMore]);
  useRevealed(virtual, { scroll, items, current });
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
                {item && <Slot item={item} at={index + 1} {...props} />}
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
  useEffect(() => {
    const { items: all, virtual: placed } = latest.current;
    const index = all.findIndex((item) => item.kind === 'row' && item.row.id === current);
    const [container, at] = [scroll.current, placed.measurementsCache[index]];
    if (!container || !at) return;
    const start = at.start - (all[index - 1]?.kind === 'head' ? HEAD_PX : 0);
    if (start < container.scrollTop) container.scrollTop = start;
    else if (at.end > container.scrollTop + container.clientHeight)
      container.scrollTop = at.end - container.clientHeight;
  }, [current, scroll]);
}

function Slot({ item, at, ...props }: DraftListProps & { item: Item; at: number }): ReactNode {
  if (item.kind === 'row') return <Row row={item.row} at={at} {...props} />;
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

type RowProps = Omit<DraftListProps, 'items'> & { row: DraftListed; at: number };

function Row({ row, at, current, onCurrent, chosen, onChoose }: RowProps): ReactNode {
  const { id, user: person, subject, rule } = row;
  const isChosen = chosen.has(id);
  const isCurrent = current === id;
  return (
    // The whole screen handles the keys of the list.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      id={`draft-${id}`}
      className={classes.row}
      role="row"
      aria-rowindex={at}
      aria-selected={isChosen}
      {...(isCurrent ? { 'aria-current': true } : {})}
      data-current={isCurrent}
      data-chosen={isChosen}
      onClick={() => onCurrent(id)}
    >
      <div role="gridcell" className={classes.box}>
        <Checkbox
          size="xs"
          tabIndex={-1}
          checked={isChosen}
          aria-label={`Select the draft for ${person.external_user_id}`}
          onClick={(event) => event.stopPropagation()}
          onChange={(event) => onChoose(id, event.currentTarget.checked)}
        />
      </div>
      <div role="gridcell" className={classes.words}>
        <div className={classes.line}>
          <span className={classes.who}>{person.name ?? person.email ?? person.external_user_id}</span>
          <span className={classes.when}>
            <DueOf row={row} />
          </span>
        </div>
        <div className={classes.subject}>{subject}</div>
        <div className={classes.line}>
          <span className={classes.rule}>
            {rule.name}
            {person.email === null ? ' · no address' : ''}
          </span>
          <span className={classes.marks}>
            {row.edited && <Mark icon={Pencil} tone="info" label="Edited" />}
            {row.lease && (
              <Mark
                icon={Pencil}
                tone="warn"
                label={row.lease.mine ? 'You are editing' : `${row.lease.by} is editing`}
              />
            )}
            {row.state !== 'scheduled' && row.lease === null && <StateMark draft={row} />}
          </span>
        </div>
      </div>
    </div>
  );
}

function DueOf({
  row: { state, reason, deadline_at: at, not_before: notBefore },
}: {
  row: DraftListed;
}): ReactNode {
  if (state === 'held' && reason === 'postponed') return <When at={notBefore} style="relative" />;
  return at === null ? <span className={classes.none}>No deadline</span> : <Deadline at={at} />;
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
