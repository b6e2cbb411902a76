import { List, Stack, Text } from '@mantine/core';
import { CircleAlert, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Mark, Sentence } from '../../parts/index.ts';
import classes from './rules.module.css';
import type { Checked } from './use-checked.ts';

/** A summary of the rule while it is edited, with errors and warnings. */
export function RuleSummary({ checked, isChecking }: Checked): ReactNode {
  return (
    <div className={classes.summary} aria-live="polite" aria-busy={isChecking}>
      {checked === null && (
        <Text size="sm" c="dimmed">
          Checking the rule…
        </Text>
      )}
      {checked !== null && checked.sentence !== null && (
        <Text size="sm" component="p" m={0}>
          <Sentence text={checked.sentence} />
        </Text>
      )}
      {checked !== null && checked.faults.length > 0 && (
        <Stack gap={4} align="start" mt={checked.sentence === null ? 0 : 'xs'}>
          <Mark icon={CircleAlert} tone="bad" label="Fix these errors" />
          <List size="sm" spacing={2}>
            {checked.faults.map(({ message, field }) => (
              <List.Item key={`${field} ${message}`}>{message}</List.Item>
            ))}
          </List>
        </Stack>
      )}
      {checked !== null && checked.warnings.length > 0 && (
        <Stack gap={4} align="start" mt="xs">
          <Mark icon={TriangleAlert} tone="warn" label="Warnings" />
          <List size="sm" spacing={2}>
            {checked.warnings.map(({ message }) => (
              <List.Item key={message}>{message}</List.Item>
            ))}
          </List>
        </Stack>
      )}
    </div>
  );
}
