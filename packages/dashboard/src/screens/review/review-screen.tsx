import { Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Layers } from 'lucide-react';
import { type ReactNode, Suspense, useEffect, useState } from 'react';
import { apiUrl, useApi, useMay, useProject } from '../../api/index.ts';
import { Empty, type Failed, formatCount, Page, later, WhenOpened } from '../../parts/index.ts';
import { lazyPart } from '../../parts/load-part.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { DraftList, ListFoot, ListSkeleton } from './draft-list.tsx';
import { type Fold, filterOfFold } from './folds.ts';
import { ReadingPane, ReadingSkeleton } from './reading-pane.tsx';
import { type Folded, useFolded } from './use-folded.ts';
import { type ReviewState, useReviewState } from './use-review-state.ts';
import { type Review, useReview } from './use-review.ts';
import classes from './review.module.css';

const ReviewDialogs = later(() => import('./review-dialogs.tsx'), 'ReviewDialogs', null);
/** BulkBar is shown while drafts are selected. It takes no focus, so it is not loaded with `later`, which restores the focus. */
const BulkBar = lazyPart(() => import('./bulk.tsx'), 'BulkBar');
/** ContextPane is beside the draft on a wide page. It handles the focus itself. */
const ContextPane = lazyPart(() => import('./context-pane.tsx'), 'ContextPane');
const Decided = later(() => import('./decided.tsx'), 'Decided');
const CaughtUp = later(() => import('./caught-up.tsx'), 'CaughtUp', null);
const BulkDialog = later(() => import('./bulk-dialog.tsx'), 'BulkDialog', null);

const route = getRouteApi('/p/$project/review');

const DRAFTS_CSV = 'GET /projects/:project/drafts.csv';
const DECIDED_CSV = 'GET /projects/:project/review/decided.csv';

/** The drafts to review, and what members decided. */
export function ReviewScreen(): ReactNode {
  const { filter, view } = route.useSearch();
  const navigate = route.useNavigate();
  const [fault, setFault] = useState<Failed | null>(null);
  const isDecided = view === 'decided';
  const { id: project } = useProject();
  const mayExport = useMay('admin');
  return (
    <Page
      title="Review"
      fill
      beside={
        <>
          <ReviewTabs />
          {!isDecided && <Counts />}
        </>
      }
      actions={
        <ListBar
          key={view}
          filter={filter}
          onFilter={(next) =>
            void navigate({ search: (was) => ({ ...was, filter: next, draft: undefined }), replace: true })
          }
          fault={fault}
          label={isDecided ? 'Filter decided drafts' : 'Filter'}
          list={isDecided ? 'decided' : 'drafts'}
          csv={
            mayExport
              ? apiUrl(isDecided ? DECIDED_CSV : DRAFTS_CSV, { params: { project }, query: { filter } })
              : undefined
          }
        />
      }
    >
      {isDecided ? <Decided onFault={setFault} /> : <ToReview onFault={setFault} />}
    </Page>
  );
}

/** All waiting drafts, usable by keyboard only. */
function ToReview({ onFault }: { onFault: (fault: Failed | null) => void }): ReactNode {
  const { filter } = route.useSearch();
  const review = useReview(filter);
  const folded = useFolded(review.rows);
  // Also for an empty list: an undone draft returns to it.
  const state = useReviewState({ ...review, rows: folded.rows });
  const { error } = review.list;
  useEffect(() => onFault(error), [error, onFault]);
  return review.isEmpty ? (
    <CaughtUp isFiltered={filter !== undefined} />
  ) : (
    <Panes review={review} folded={folded} state={state} />
  );
}

function Counts(): ReactNode {
  const counts = useApi('GET /projects/:project/drafts/counts', { query: {} });
  const found = counts.data?.data;
  if (!found) return null;
  const { soon, today, later, no_deadline: none, held } = found;
  const parts: [number, string][] = [
    [soon, 'within the hour'],
    [today, 'today'],
    [later, 'later'],
    [none, 'without a deadline'],
    [held, 'held'],
  ];
  const texts = parts
    .filter(([count]) => count > 0)
    .map(([count, words]) => `${formatCount(count)} ${words}`);
  return (
    <Text size="sm" c="dimmed" aria-live="polite">
      {found.at_least ? 'At least ' : ''}
      {texts.join(' · ')}
    </Text>
  );
}

/** Links, because each tab is a page with its own address and filter. */
function ReviewTabs(): ReactNode {
  const project = String(useProject().id);
  const tab = (name: 'decided' | undefined, words: string): ReactNode => (
    <Link
      to="/p/$project/review"
      params={{ project }}
      search={{ view: name }}
      className={classes.tab}
      // Otherwise a link without parameters would be current with any.
      activeOptions={{ explicitUndefined: true }}
    >
      {words}
    </Link>
  );
  return (
    <div className={classes.tabs}>
      {tab(undefined, 'To review')}
      {tab('decided', 'Decided')}
    </div>
  );
}

/** All drafts are in closed folds. */
function NoneSelected(): ReactNode {
  return (
    <section className={classes.reading} aria-label="Draft">
      <Empty icon={Layers} title="No draft selected">
        Open a group of similar drafts, or decide about all of its drafts at once.
      </Empty>
    </section>
  );
}

type PanesProps = { review: Review; folded: Folded; state: ReviewState };

function Panes({ review, folded, state }: PanesProps): ReactNode {
  const { filter = '' } = route.useSearch();
  const { list } = review;
  const { read, bulk, show, why } = state;
  return (
    <>
      <div className={classes.panes} data-open={state.isNamed} data-why={why}>
        <div className={classes.side}>
          {list.isPending ? <ListSkeleton /> : <Drafts review={review} folded={folded} state={state} />}
          {bulk.chosen.size > 0 && (
            <Suspense fallback={null}>
              <BulkBar {...bulk.bar(list)} />
            </Suspense>
          )}
          <ListFoot {...review} visibleCount={review.rows.length} endsFolded={folded.endsFolded} />
        </div>
        {read !== undefined ? (
          <ReadingPane
            {...state}
            id={read}
            onPane={state.setPane}
            onEdited={state.stopEditing}
            onSaved={state.saved}
            onBack={() => show(undefined)}
          />
        ) : list.isPending ? (
          <ReadingSkeleton />
        ) : (
          <NoneSelected />
        )}
        {read !== undefined && why !== 'closed' && (
          <Suspense fallback={null}>
            <ContextPane draft={read} takesFocus={why === 'requested'} />
          </Suspense>
        )}
      </div>
      <WhenOpened opened={state.dialog?.isOpen === true || bulk.dialog !== null}>
        <ReviewDialogs state={state} />
      </WhenOpened>
      <WhenOpened opened={bulk.request !== null}>
        <BulkDialog request={bulk.request} filter={filter} onClose={bulk.close} onActed={bulk.acted} />
      </WhenOpened>
    </>
  );
}

function Drafts({ review: { list }, folded, state }: PanesProps): ReactNode {
  const { filter } = route.useSearch();
  const mayReview = useMay('reviewer');
  const { current, bulk, show } = state;
  const actOnFold = (fold: Fold): void => {
    if (fold.needsAction) bulk.wantAll({ kind: 'skip' }, filterOfFold(fold, filter));
    else bulk.chooseAll(new Set(fold.rows.map(({ id }) => id)));
  };
  const toggle = (fold: Fold): void => {
    if (fold.isOpen && fold.rows.some(({ id }) => id === current)) show(undefined);
    folded.toggle(fold);
  };
  return (
    <DraftList
      list={list}
      items={folded.items}
      endsFolded={folded.endsFolded}
      current={current}
      onCurrent={show}
      chosen={bulk.chosen}
      onChoose={bulk.choose}
      onFold={toggle}
      onActOnFold={mayReview ? actOnFold : undefined}
    />
  );
}
