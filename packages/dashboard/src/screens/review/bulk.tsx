import { Button, Group, Text } from '@mantine/core';
import type { BulkAct } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { formatCount } from '../../parts/index.ts';
import classes from './review.module.css';

export type Wanted = { act: BulkAct; ids: string[] | null };

export type BulkBarProps = {
  chosen: number;
  /** How many pass the filter, in all. */
  all: number;
  isAtLeast: boolean;
  takesAll: boolean;
  onTakeAll: () => void;
  onClear: () => void;
  approve: () => void;
  postpone: () => void;
  skip: () => void;
};

/** What may be done with all that are chosen. */
export function BulkBar(props: BulkBarProps): ReactNode {
  const { chosen, all, isAtLeast, takesAll, onTakeAll, onClear, approve, postpone, skip } = props;
  const count = `${formatCount(all)}${isAtLeast ? ' or more' : ''}`;
  return (
    <div className={classes.bulk} role="region" aria-label="Chosen letters">
      <Group gap="xs" wrap="wrap">
        <Text size="sm" fw={500} aria-live="polite">
          {takesAll ? `All ${count} chosen` : `${formatCount(chosen)} chosen`}
        </Text>
        <Button size="compact-sm" onClick={approve}>
          Approve
        </Button>
        <Button size="compact-sm" variant="default" onClick={postpone}>
          Put off
        </Button>
        <Button size="compact-sm" variant="default" onClick={skip}>
          Skip
        </Button>
        {!takesAll && all > chosen && (
          <Button size="compact-sm" variant="subtle" onClick={onTakeAll}>
            Choose all {count}
          </Button>
        )}
        <Button size="compact-sm" variant="subtle" color="gray" onClick={onClear}>
          Let go
        </Button>
      </Group>
    </div>
  );
}
