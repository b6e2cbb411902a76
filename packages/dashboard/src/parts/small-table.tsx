import { Table, type TableProps } from '@mantine/core';
import type { ReactNode } from 'react';

/** The head of a column; its alignment and visibility apply to the cells below. */
export type Head = { title: string; w?: number | string; ta?: 'right'; visibleFrom?: 'sm'; wraps?: boolean };
export type SmallTableProps = Omit<TableProps, 'children'> & {
  heads: (string | Head)[];
  rows?: { key: string; cells: ReactNode[] }[];
  /** Rows with their own state, instead of `rows`. */
  children?: ReactNode;
};

/** A table of few rows, without keys and sorting. */
export function SmallTable({ heads, rows = [], children, ...rest }: SmallTableProps): ReactNode {
  const columns = heads.map((head): Head => (typeof head === 'string' ? { title: head } : head));
  return (
    <Table {...rest}>
      <Table.Thead>
        <Table.Tr>
          {columns.map(({ title, wraps: _wraps, ...props }) => (
            <Table.Th key={title} scope="col" {...props}>
              {title}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {children}
        {rows.map(({ key, cells }) => (
          <Table.Tr key={key}>
            {columns.map(({ title, w: _w, wraps = false, ...props }, at) => (
              <Table.Td key={title} {...props} {...(wraps ? WRAP : {})}>
                {cells[at]}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** Breaks long words: addresses, URLs. */
const WRAP = { style: { overflowWrap: 'anywhere' as const } };
