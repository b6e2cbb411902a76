import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Around } from './around.ts';
import classes from './predicate.module.css';

/** The server's errors of this part: with all inner parts, or only of itself and these keys. */
export function Faults({
  place,
  around,
  isWhole = false,
  under = [],
}: {
  place: string;
  around: Around;
  isWhole?: boolean;
  under?: string[];
}): ReactNode {
  const said = around.faults.filter(
    ({ field = '' }) =>
      field === place ||
      under.some((key) => field === `${place}.${key}`) ||
      (isWhole && field.startsWith(`${place}.`)),
  );
  return said.map(({ message }) => (
    <Text key={message} size="xs" c="var(--mantine-color-error)" role="alert" className={classes.fault}>
      {message}
    </Text>
  ));
}
