import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Around } from './around.ts';
import classes from './predicate.module.css';

/** The server's errors of this part: with all inner parts, or only of itself and these keys. */
export function Faults({
  path,
  around,
  isWhole = false,
  under = [],
}: {
  path: string;
  around: Around;
  isWhole?: boolean;
  under?: string[];
}): ReactNode {
  const faults = around.faults.filter(
    ({ field = '' }) =>
      field === path ||
      under.some((key) => field === `${path}.${key}`) ||
      (isWhole && field.startsWith(`${path}.`)),
  );
  return faults.map(({ message }) => (
    <Text key={message} size="xs" c="var(--mantine-color-error)" role="alert" className={classes.fault}>
      {message}
    </Text>
  ));
}
