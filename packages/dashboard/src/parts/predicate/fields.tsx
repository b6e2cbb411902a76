import {
  ActionIcon,
  Autocomplete,
  Group,
  NativeSelect,
  NumberInput,
  TagsInput,
  TextInput,
} from '@mantine/core';
import type { ReactNode } from 'react';
import { X } from 'lucide-react';
import { type Operator, OPERATORS, operandFor, readSpan, type Test } from './language.ts';

export type Field<T> = { value: T; onChange: (value: T) => void; label: string; isReadOnly: boolean };

/** A name, selected from those that were sent, or typed. */
export function NameField({
  value,
  onChange,
  label,
  isReadOnly,
  names,
  placeholder,
}: Field<string> & { names: string[]; placeholder?: string }): ReactNode {
  return (
    <Autocomplete
      size="xs"
      w={180}
      aria-label={label}
      placeholder={placeholder ?? label}
      data={[...new Set(names)]}
      limit={50}
      value={value}
      readOnly={isReadOnly}
      onChange={onChange}
    />
  );
}

/** An operator and its operand. */
export function TestField({
  value,
  onChange,
  isReadOnly,
  label,
  operators,
  examples,
}: Field<Test> & { operators: Operator[]; examples: string[] }): ReactNode {
  const { operand } = OPERATORS[value.op];
  const setOperand = (next: unknown): void => onChange({ ...value, with: next });
  return (
    <>
      <NativeSelect
        size="xs"
        aria-label={`${label}: operator`}
        disabled={isReadOnly}
        data={operators.map((op) => ({ value: op, label: OPERATORS[op].label }))}
        value={value.op}
        onChange={({ currentTarget }) => {
          const op = currentTarget.value as Operator;
          onChange({ op, with: operandFor(op, value.with) });
        }}
      />
      <OperandField
        operand={operand}
        value={value.with}
        onChange={setOperand}
        label={`${label}: value`}
        isReadOnly={isReadOnly}
        examples={examples}
      />
    </>
  );
}

type Operand = Field<unknown> & { operand: (typeof OPERATORS)[Operator]['operand']; examples: string[] };

function OperandField({ operand, value, onChange, label, isReadOnly, examples }: Operand): ReactNode {
  const text = typeof value === 'string' ? value : '';
  const same = { label, isReadOnly };
  switch (operand) {
    case 'none':
      return null;
    case 'number':
      return <NumberField {...same} value={typeof value === 'number' ? value : 0} onChange={onChange} />;
    case 'span':
      return <SpanField {...same} value={text} onChange={onChange} />;
    case 'values':
      return (
        <TagsInput
          size="xs"
          miw={180}
          aria-label={label}
          placeholder="Type a value, then press Enter"
          data={examples}
          value={Array.isArray(value) ? value.map(String) : []}
          readOnly={isReadOnly}
          onChange={(next) => onChange(next.map((item) => keepNumber(item, value)))}
        />
      );
    case 'value':
      return <ValueField {...same} value={value} onChange={onChange} examples={examples} />;
    case 'moment':
      return (
        <TextInput
          size="xs"
          w={190}
          aria-label={label}
          placeholder="2026-01-31 or 2026-01-31T14:30:00Z"
          value={text}
          readOnly={isReadOnly}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      );
    case 'text':
      return <NameField {...same} value={text} onChange={onChange} names={examples} placeholder="text" />;
    default:
      return operand satisfies never;
  }
}

/** The server does not convert text to numbers, so numbers in the list stay numbers. */
function keepNumber(text: string, was: unknown): string | number {
  const values: unknown[] = Array.isArray(was) ? was : [];
  return values.find((item): item is number => typeof item === 'number' && String(item) === text) ?? text;
}

type ValueType = 'text' | 'number' | 'yes_no';

/** Text, numbers and booleans are different values, so the type is selected explicitly. */
function ValueField({
  value,
  onChange,
  label,
  isReadOnly,
  examples,
}: Field<unknown> & { examples: string[] }): ReactNode {
  const type: ValueType =
    typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'yes_no' : 'text';
  return (
    <Group gap={4} wrap="nowrap">
      <NativeSelect
        size="xs"
        aria-label={`${label}: type`}
        disabled={isReadOnly}
        data={[
          { value: 'text', label: 'text' },
          { value: 'number', label: 'number' },
          { value: 'yes_no', label: 'true or false' },
        ]}
        value={type}
        onChange={({ currentTarget }) => onChange(asType(value, currentTarget.value as ValueType))}
      />
      {type === 'number' && (
        <NumberField label={label} isReadOnly={isReadOnly} value={value as number} onChange={onChange} />
      )}
      {type === 'yes_no' && (
        <NativeSelect
          size="xs"
          aria-label={label}
          disabled={isReadOnly}
          data={[
            { value: 'true', label: 'true' },
            { value: 'false', label: 'false' },
          ]}
          value={String(value)}
          onChange={({ currentTarget }) => onChange(currentTarget.value === 'true')}
        />
      )}
      {type === 'text' && (
        <NameField
          label={label}
          isReadOnly={isReadOnly}
          value={typeof value === 'string' ? value : ''}
          onChange={onChange}
          names={examples}
          placeholder="text"
        />
      )}
    </Group>
  );
}

function asType(value: unknown, type: ValueType): unknown {
  if (type === 'number') return Number(value) || 0;
  return type === 'yes_no' ? value !== 'false' && value !== false : String(value);
}

export function NumberField({
  value,
  onChange,
  label,
  isReadOnly,
  min,
}: Field<number> & { min?: number }): ReactNode {
  return (
    <NumberInput
      size="xs"
      w={90}
      aria-label={label}
      value={value}
      readOnly={isReadOnly}
      {...(min === undefined ? {} : { min })}
      onChange={(next) => typeof next === 'number' && onChange(next)}
    />
  );
}

const UNITS = [
  { value: 'm', label: 'minutes' },
  { value: 'h', label: 'hours' },
  { value: 'd', label: 'days' },
];

/** A duration that the form cannot parse, such as 90s, is kept until it is changed. */
export function SpanField({ value, onChange, label, isReadOnly }: Field<string>): ReactNode {
  const { count, unit } = readSpan(value) ?? { count: 7, unit: 'd' };
  return (
    <Group gap={4} wrap="nowrap">
      <NumberField
        label={`${label}: number`}
        isReadOnly={isReadOnly}
        min={1}
        value={count}
        onChange={(next) => onChange(`${next}${unit}`)}
      />
      <NativeSelect
        size="xs"
        aria-label={`${label}: unit`}
        disabled={isReadOnly}
        data={UNITS}
        value={unit}
        onChange={({ currentTarget }) => onChange(`${count}${currentTarget.value}`)}
      />
    </Group>
  );
}

export function RemoveButton({ label, onClick }: { label: string; onClick: () => void }): ReactNode {
  return (
    <ActionIcon variant="subtle" color="gray" size="sm" aria-label={label} onClick={onClick}>
      <X size={14} aria-hidden="true" />
    </ActionIcon>
  );
}
