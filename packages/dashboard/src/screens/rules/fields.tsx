import {
  ActionIcon,
  Autocomplete,
  Button,
  Group,
  NumberInput,
  Select,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { Plus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { type Piece, piecesOf, textOf, textsOf } from './document.ts';
import { useFacts, useFault } from './facts.ts';
import { OPERATORS, printValue, readSpan, readValue, testOf, UNITS, withTest } from './values.ts';

type Field<T> = { label: string; value: T; onChange: (value: T) => void; path: string };

/** A whole number and a unit, as `3d`. */
export function SpanField({
  label,
  value,
  onChange,
  path,
  seconds = false,
}: Field<string> & { seconds?: boolean }): ReactNode {
  const { readOnly } = useFacts();
  const fault = useFault(path);
  const { count, unit } = readSpan(value);
  const units = UNITS.filter((unit) => seconds || unit.value !== 's');
  return (
    <Group gap={4} align="end" wrap="nowrap">
      <NumberInput
        label={label}
        error={fault}
        value={count ?? ''}
        min={1}
        allowDecimal={false}
        w={96}
        disabled={readOnly}
        onChange={(next) => onChange(next === '' ? '' : `${next}${unit}`)}
      />
      <Select
        aria-label={`${label}: unit`}
        data={units}
        value={unit}
        allowDeselect={false}
        w={110}
        disabled={readOnly}
        onChange={(next) => onChange(count === null ? '' : `${count}${next ?? unit}`)}
      />
    </Group>
  );
}

/** Accepts any name, and suggests the names that were sent. */
export function EventField({ label, value, onChange, path }: Field<string>): ReactNode {
  const { events, readOnly } = useFacts();
  const isUnseen = value !== '' && events.length > 0 && !events.some(({ name }) => name === value);
  return (
    <Autocomplete
      label={label}
      value={value}
      onChange={onChange}
      data={[...new Set(events.map(({ name }) => name))]}
      limit={20}
      error={useFault(path)}
      description={isUnseen ? 'Not received so far' : undefined}
      placeholder="user_signed_up"
      disabled={readOnly}
      spellCheck={false}
      w={{ base: '100%', sm: 260 }}
    />
  );
}

export function EventsField({ label, value, onChange, path }: Field<string[]>): ReactNode {
  const { events, readOnly } = useFacts();
  return (
    <TagsInput
      label={label}
      value={value}
      onChange={onChange}
      data={[...new Set(events.map(({ name }) => name))]}
      error={useFault(path)}
      disabled={readOnly}
      placeholder={value.length === 0 ? 'Type an event name, then press Enter' : ''}
      clearable
    />
  );
}

export function PropertiesField({
  label,
  value,
  onChange,
  path,
  event,
}: Field<unknown> & { event: string }): ReactNode {
  const { events, readOnly } = useFacts();
  const properties = events.find(({ name }) => name === event)?.properties ?? [];
  return (
    <TagsInput
      label={label}
      value={textsOf(value)}
      onChange={onChange}
      data={[...new Set(properties.map(({ property }) => property))]}
      error={useFault(path)}
      disabled={readOnly}
    />
  );
}

/** Filters on the event's properties, combined with AND. */
export function WhereField({
  value,
  onChange,
  path,
  event,
}: Omit<Field<unknown>, 'label'> & { event: string }): ReactNode {
  const { readOnly } = useFacts();
  const fault = useFault(path);
  const tests = piecesOf(value);
  const set = (at: number, test: Piece): void => onChange(tests.with(at, test));
  return (
    <Stack gap={6}>
      {tests.map((test, at) => (
        <WhereRow
          key={at}
          test={test}
          event={event}
          onChange={(next) => set(at, next)}
          onRemove={() => onChange(tests.toSpliced(at, 1))}
        />
      ))}
      {fault !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {fault}
        </Text>
      )}
      <Button
        variant="subtle"
        size="compact-sm"
        leftSection={<Plus size={14} aria-hidden="true" />}
        disabled={readOnly}
        onClick={() => onChange([...tests, { property: '', equals: '' }])}
        w="fit-content"
      >
        {tests.length === 0 ? 'Add property filter' : 'Add another filter'}
      </Button>
    </Stack>
  );
}

type RowProps = { test: Piece; event: string; onChange: (test: Piece) => void; onRemove: () => void };

export function WhereRow({ test, event, onChange, onRemove }: RowProps): ReactNode {
  const { events, readOnly } = useFacts();
  const properties = events.find(({ name }) => name === event)?.properties ?? [];
  const { operator, value } = testOf(test);
  return (
    <Group gap={6} wrap="wrap" align="center">
      <Text size="sm">where</Text>
      <Autocomplete
        aria-label="Property"
        value={textOf(test['property'])}
        data={[...new Set(properties.map(({ property }) => property))]}
        onChange={(property) => onChange({ ...test, property })}
        disabled={readOnly}
        w={170}
      />
      <Select
        aria-label="Operator"
        data={OPERATORS}
        value={operator}
        allowDeselect={false}
        onChange={(next) => onChange(withTest(test, next ?? operator, value))}
        disabled={readOnly}
        w={150}
      />
      {operator !== 'is_set' && (
        <TextInput
          aria-label="Value"
          value={printValue(value)}
          onChange={({ currentTarget }) =>
            onChange(withTest(test, operator, readValue(operator, currentTarget.value)))
          }
          disabled={readOnly}
          w={150}
        />
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label="Remove filter"
        onClick={onRemove}
        disabled={readOnly}
      >
        <X size={16} aria-hidden="true" />
      </ActionIcon>
    </Group>
  );
}
