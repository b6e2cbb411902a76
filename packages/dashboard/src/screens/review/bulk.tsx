import { Button, Group, Text } from '@mantine/core';
import type { BulkAct } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { formatCount } from '../../parts/index.ts';
import classes from './review.module.css';

export type BulkRequest = {
  act: BulkAct;
  /** Null: all drafts that match the filter. */
  ids: string[] | null;
  /** Instead of the filter of the list: all drafts of a fold. */
  filter?: string;
};

export type BulkBarProps = {
  chosen: number;
  /** The number of drafts that match the filter. */
  all: number;
  isAtLeast: boolean;
  takesAll: boolean;
  onTakeAll: () => void;
  onClear: () => void;
  approve: () => void;
  postpone: () => void;
  skip: () => void;
};

/** The actions for all selected drafts. */
export function BulkBar(props: BulkBarProps): ReactNode {
  const { chosen, all, isAtLeast, takesAll, onTakeAll, onClear, approve, postpone, skip } = props;
  const count = `${formatCount(all)}${isAtLeast ? ' or more' : ''}`;
  return (
    <div className={classes.bulk} role="region" aria-label="Selected drafts">
      <Group gap="xs" justify="space-between" wrap="wrap" mb={6}>
        <Text size="sm" fw={500} aria-live="polite">
          {takesAll ? `All ${count} selected` : `${formatCount(chosen)} selected`}
        </Text>
        {!takesAll && all > chosen && (
          <Button size="compact-xs" variant="subtle" onClick={onTakeAll}>
            Select all {count}
          </Button>
        )}
        <Button size="compact-xs" variant="subtle" color="gray" onClick={onClear}>
          Clear
        </Button>
      </Group>
      <Group gap={6} wrap="nowrap">
        <Button size="compact-xs" onClick={approve}>
          Approve
        </Button>
        <Button size="compact-xs" variant="default" onClick={postpone}>
          Postpone
        </Button>
        <Button size="compact-xs" variant="default" onClick={skip}>
          Skip
        </Button>
      </Group>
    </div>
  );
}
