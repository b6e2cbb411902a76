import { Table } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './text-block.module.css';

/** Text from a user or a server, as plain text. */
export function TextBlock({ text, label }: { text: string; label: string }): ReactNode {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className={classes.text} tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
  );
}

/** Names and values, as in email headers. */
export function NameValues({
  rows,
  label,
}: {
  rows: { name: string; value: string }[];
  label: string;
}): ReactNode {
  return (
    <Table aria-label={label} layout="fixed" verticalSpacing="xs">
      <Table.Tbody>
        {rows.map(({ name, value }, at) => (
          <Table.Tr key={`${at} ${name}`}>
            <Table.Th scope="row" w="28%" fw={500} className={classes.name}>
              {name}
            </Table.Th>
            <Table.Td className={classes.value}>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
