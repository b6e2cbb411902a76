import type { DraftListed } from '@beckon/contract/dashboard';
import { Pencil } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import { Deadline, Mark, When } from '../../parts/index.ts';
import { StateMark } from './state-mark.tsx';
import classes from './review.module.css';

export type RowHandlers = {
  onCurrent: (id: string) => void;
  onChoose: (id: string, isChosen: boolean) => void;
};

type RowProps = RowHandlers & {
  row: DraftListed;
  at: number;
  isCurrent: boolean;
  isChosen: boolean;
};

/** A draft in the list. Scrolling renders only the rows that come into view. */
export const DraftRow = memo(Row);

function Row({ row, at, isCurrent, isChosen, onCurrent, onChoose }: RowProps): ReactNode {
  const { id, user: person, subject, rule } = row;
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
      <div role="gridcell">
        {/* A native checkbox: there are many, and they mount and unmount while scrolling. */}
        <input
          type="checkbox"
          className={classes.box}
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
