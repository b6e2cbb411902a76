import { Autocomplete, Select, Table } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ImportMapping, ImportSample, ImportType } from '@beckon/contract/dashboard';
import { SmallTable } from '../../parts/small-table.tsx';
import { Muted } from '../../parts/muted.tsx';

type Column = ImportSample['columns'][number];
type To = ImportMapping['columns'][string];
type Props = { kind: 'users' | 'events'; columns: Column[]; onChange: (column: string, to: To) => void };

const FIELDS = {
  users: ['external_user_id', 'email', 'traits.name', 'traits.plan', 'traits.company', 'traits.signupDate'],
  events: ['external_user_id', 'name', 'occurred_at', 'message_id'],
};
const LEFT_OUT = 'ignore';
const TYPES: { value: ImportType; label: string }[] = [
  { value: 'auto', label: 'Detect type' },
  { value: 'text', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'boolean', label: 'Boolean' },
  { value: 'date', label: 'Date' },
  { value: 'json', label: 'JSON' },
];
const SHOWN_MAX = 200;

export function ColumnTable({ kind, columns, onChange }: Props): ReactNode {
  return (
    <Table.ScrollContainer minWidth={520} tabIndex={0} aria-label="Columns of the file">
      <SmallTable heads={['Column', 'Import as', 'Type', 'Example']}>
        {columns.slice(0, SHOWN_MAX).map((column) => (
          <Row key={column.name} kind={kind} column={column} onChange={onChange} />
        ))}
      </SmallTable>
      {columns.length > SHOWN_MAX && (
        <Muted>and {columns.length - SHOWN_MAX} more, mapped by their headers</Muted>
      )}
    </Table.ScrollContainer>
  );
}

function Row({ kind, column, onChange }: Pick<Props, 'kind' | 'onChange'> & { column: Column }): ReactNode {
  const { name, to, type, values } = column;
  const bag = kind === 'users' ? 'traits' : 'properties';
  const isKey = to?.startsWith(`${bag}.`) ?? false;
  const choices = [...new Set([...FIELDS[kind], `${bag}.${name}`, LEFT_OUT])];
  const choose = (value: string): void => {
    const chosen = value.trim();
    if (chosen !== '') onChange(name, { to: chosen === LEFT_OUT ? null : chosen, type });
  };
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>{name}</Table.Td>
      <Table.Td>
        <Autocomplete
          key={to}
          aria-label={`Import ${name} as`}
          size="xs"
          data={choices}
          defaultValue={to ?? LEFT_OUT}
          filter={({ options }) => options}
          onOptionSubmit={choose}
          onBlur={({ currentTarget }) => {
            if (currentTarget.value !== (to ?? LEFT_OUT)) choose(currentTarget.value);
          }}
        />
      </Table.Td>
      <Table.Td>
        {isKey && (
          <Select
            aria-label={`Type of ${name}`}
            size="xs"
            allowDeselect={false}
            data={TYPES}
            value={type}
            onChange={(value) => onChange(name, { to, type: value as ImportType })}
          />
        )}
      </Table.Td>
      <Table.Td>
        <Muted size="xs" truncate maw={220}>
          {values.slice(0, 3).join(' · ')}
        </Muted>
      </Table.Td>
    </Table.Tr>
  );
}
