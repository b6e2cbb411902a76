import { Group, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { MailCheck } from 'lucide-react';
import { lazy, type ReactNode, Suspense } from 'react';
import { useApi, useProject } from '../../api/index.ts';
import { Empty, FilterBox, formatCount, Page, later, WhenOpened } from '../../parts/index.ts';
import { ContextPane } from './context-pane.tsx';
import { DraftList, ListFoot, ListSkeleton } from './draft-list.tsx';
import { ReadingPane, ReadingSkeleton } from './reading-pane.tsx';
import { type ReviewState, useReviewState } from './use-review-state.ts';
import { type Review, useReview } from './use-review.ts';
import classes from './review.module.css';

const ReviewDialogs = later(() => import('./review-dialogs.tsx'), 'ReviewDialogs', null);
/** BulkBar is shown while drafts are selected. It takes no focus, so it is not loaded with `later`, which restores the focus. */
const BulkBar = lazy(async () => ({ default: (await import('./bulk.tsx')).BulkBar }));
const BulkDialog = later(() => import('./bulk-dialog.tsx'), 'BulkDialog', null);

const route = getRouteApi('/p/$project/review');

/** All waiting drafts, usable by keyboard only. */
export function ReviewScreen(): ReactNode {
  const { filter } = route.useSearch();
  const navigate = route.useNavigate();
  const review = useReview(filter);
  // Also for an empty list: an undone draft returns to it.
  const state = useReviewState(review);
  return (
    <Page
      title="Review"
      fill
      beside={<Counts />}
      actions={
        <FilterBox
          value={filter}
          onChange={(next) =>
            void navigate({ search: (was) => ({ ...was, filter: next, draft: undefined }), replace: true })
          }
          fault={review.list.error}
          list="drafts"
        />
      }
    >
      {review.isEmpty ? (
        <NothingWaits isFiltered={filter !== undefined} />
      ) : (
        <Panes review={review} state={state} />
      )}
    </Page>
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

function NothingWaits({ isFiltered }: { isFiltered: boolean }): ReactNode {
  const project = useProject();
  if (isFiltered) return <Empty icon={MailCheck} title="No drafts match this filter" />;
  return (
    <Empty
      icon={MailCheck}
      title="All caught up"
      action={
        <Group gap="sm">
          <Link className={classes.link} to="/p/$project/schedule" params={{ project: String(project.id) }}>
            View schedule
          </Link>
          <Link className={classes.link} to="/p/$project/rules" params={{ project: String(project.id) }}>
            View rules
          </Link>
        </Group>
      }
    >
      Drafts to review appear here when a rule creates them. Approve, edit, postpone or skip them before their
      deadline.
    </Empty>
  );
}

function Panes({ review, state }: { review: Review; state: ReviewState }): ReactNode {
  const { filter = '' } = route.useSearch();
  const { list, rows } = review;
  const { current, read, bulk, show, why } = state;
  return (
    <>
      <div className={classes.panes} data-open={state.isNamed} data-why={why}>
        <div className={classes.side}>
          {list.isPending ? (
            <ListSkeleton />
          ) : (
            <DraftList
              list={list}
              rows={rows}
              current={current}
              onCurrent={show}
              chosen={bulk.chosen}
              onChoose={bulk.choose}
            />
          )}
          {bulk.chosen.size > 0 && (
            <Suspense fallback={null}>
              <BulkBar {...bulk.bar(list)} />
            </Suspense>
          )}
          <ListFoot {...review} visibleCount={rows.length} />
        </div>
        {read === undefined ? (
          <ReadingSkeleton />
        ) : (
          <ReadingPane
            {...state}
            id={read}
            onPane={state.setPane}
            onEdited={state.stopEditing}
            onSaved={state.saved}
            onBack={() => show(undefined)}
          />
        )}
        {read !== undefined && why !== 'closed' && (
          <ContextPane draft={read} takesFocus={why === 'requested'} />
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
