import { Button, Group, Text } from '@mantine/core';
import type { BulkAct } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { formatCount } from '../../parts/index.ts';
import classes from './review.module.css';

export type BulkRequest = { act: BulkAct; ids: string[] | null };

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
      <Group gap="xs" wrap="wrap">
        <Text size="sm" fw={500} aria-live="polite">
          {takesAll ? `All ${count} selected` : `${formatCount(chosen)} selected`}
        </Text>
        <Button size="compact-sm" onClick={approve}>
          Approve
        </Button>
        <Button size="compact-sm" variant="default" onClick={postpone}>
          Postpone
        </Button>
        <Button size="compact-sm" variant="default" onClick={skip}>
          Skip
        </Button>
        {!takesAll && all > chosen && (
          <Button size="compact-sm" variant="subtle" onClick={onTakeAll}>
            Select all {count}
          </Button>
        )}
        <Button size="compact-sm" variant="subtle" color="gray" onClick={onClear}>
          Clear
        </Button>
      </Group>
    </div>
  );
}
