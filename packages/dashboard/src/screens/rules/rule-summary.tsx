import { Stack, Text } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { ErrorBox, Mark, Sentence } from '../../parts/index.ts';
import { FaultList } from './fault-list.tsx';
import classes from './rules.module.css';
import type { Checked } from './use-checked.ts';
import { Muted } from '../../parts/muted.tsx';
import { Bullets } from '../../parts/bullets.tsx';

/** A summary of the rule while it is edited, with errors and warnings. */
export function RuleSummary({ checked, isChecking, error, retry }: Checked): ReactNode {
  return (
    <>
      {error && <ErrorBox error={error} title="The rule could not be checked" retry={retry} />}
      {(checked !== null || error === null) && (
        <div className={classes.summary} aria-live="polite" aria-busy={isChecking}>
          {checked === null && <Muted>Checking the rule…</Muted>}
          {checked !== null && checked.sentence !== null && (
            <Text size="sm" component="p" m={0}>
              <Sentence text={checked.sentence} />
            </Text>
          )}
          {checked !== null && checked.faults.length > 0 && <FaultList faults={checked.faults} />}
          {checked !== null && checked.warnings.length > 0 && (
            <Stack gap={4} align="start" mt="xs">
              <Mark icon={TriangleAlert} tone="warn" label="Warnings" />
              <Bullets items={checked.warnings.map(({ message }) => message)} />
            </Stack>
          )}
        </div>
      )}
    </>
  );
}
