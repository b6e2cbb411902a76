import { Button, Group, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, Suspense } from 'react';
import { lazyPart } from './load-part.ts';
import classes from './save-bar.module.css';
import { useKeys } from './use-keys.tsx';
import { ActButton } from './act-button.tsx';

// Loaded with the first change, so that it also opens while the server is unreachable.
const LeaveDialog = lazyPart(() => import('./leave-dialog.tsx'), 'LeaveDialog');

export type SaveBarProps = {
  dirty: boolean;
  saving: boolean;
  onSave: () => void;
  onDiscard: () => void;
  /** An effect of saving that is not obvious: "Creates version 4". */
  note?: ReactNode;
  label?: string;
};

/** Shown below a form with unsaved changes. Asks before the member leaves the page. */
export function SaveBar({ dirty, saving, onSave, onDiscard, note, label = 'Save' }: SaveBarProps): ReactNode {
  const blocker = useBlocker({
    // Filters, tabs and open rows of the same page do not ask.
    shouldBlockFn: ({ current, next }) => dirty && current.pathname !== next.pathname,
    enableBeforeUnload: () => dirty,
    withResolver: true,
  });
  useKeys('Form', { 'Mod+s': { label, run: onSave } }, { enabled: dirty && !saving });
  const isBlocked = blocker.status === 'blocked';
  return (
    <>
      {dirty && (
        <div className={classes.bar} role="region" aria-label="Unsaved changes">
          <Text size="sm" component="div">
            {note ?? 'Unsaved changes'}
          </Text>
          <Group gap="xs">
            <ActButton size="sm" onClick={onDiscard} disabled={saving}>
              Discard
            </ActButton>
            <Button size="sm" onClick={onSave} loading={saving}>
              {label}
            </Button>
          </Group>
        </div>
      )}
      {(dirty || isBlocked) && (
        <Suspense fallback={null}>
          <LeaveDialog
            opened={isBlocked}
            onStay={() => blocker.reset?.()}
            onLeave={() => blocker.proceed?.()}
          />
        </Suspense>
      )}
    </>
  );
}
