import { Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { axisLabel, defaultFormat } from './chart-axes.ts';
import type { ChartProps, Point } from './chart-with-table.tsx';
import { TextButton } from './text-button.tsx';

/** The numbers of a chart as a table. */
export function ChartTable(props: ChartProps): ReactNode {
  const { title, rows, x, xLabel, series, format = defaultFormat } = props;
  return (
    <Table.ScrollContainer minWidth={0} maxHeight={320}>
      <Table striped stickyHeader aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{xLabel ?? x}</Table.Th>
            {series.map(({ name, label }) => (
              <Table.Th key={name} scope="col" ta="right">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row, index) => (
            <Table.Tr key={index}>
              <Table.Th scope="row" fw={400}>
                <PointName {...props} value={row[x]} />
              </Table.Th>
              {series.map(({ name }) => (
                <Table.Td key={name} ta="right">
                  {typeof row[name] === 'number' ? format(row[name]) : (row[name] ?? '–')}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Opens the same as the point of the chart. */
function PointName({
  value,
  onOpen,
  openLabel,
}: ChartProps & { value: Point[string] | undefined }): ReactNode {
  const label = axisLabel(value);
  if (!onOpen) return label;
  return (
    <TextButton aria-label={`${label}: ${openLabel ?? 'Open'}`} onClick={() => onOpen(String(value))}>
      {label}
    </TextButton>
  );
}
