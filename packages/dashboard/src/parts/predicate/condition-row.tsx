import { Group, NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Around } from './around.ts';
import { EventFields } from './event-fields.tsx';
import { Faults } from './faults.tsx';
import { NameField, RemoveButton, TestField } from './fields.tsx';
import { OPERATORS_OF, printShape, type Shape, startOf, type Subject, SUBJECTS } from './language.ts';
import classes from './predicate.module.css';

type Row = Exclude<Shape, { kind: 'all' | 'any' | 'not' | 'other' }>;

export type RowProps = {
  shape: Row;
  onChange: (value: unknown) => void;
  path: string;
  around: Around;
  onRemove?: () => void;
  isNot: boolean;
  onNot: () => void;
};

export function ConditionRow(props: RowProps): ReactNode {
  const { shape, onChange, path, around, onRemove, isNot, onNot } = props;
  const change = (next: Row): void => onChange(printShape(next));
  return (
    <div className={classes.row}>
      <Group gap={6} wrap="wrap">
        <NativeSelect
          size="xs"
          aria-label="Is true or is not true"
          disabled={around.isReadOnly}
          data={[
            { value: 'holds', label: 'is true:' },
            { value: 'not', label: 'is not true:' },
          ]}
          value={isNot ? 'not' : 'holds'}
          onChange={onNot}
        />
        <NativeSelect
          size="xs"
          aria-label="Condition type"
          disabled={around.isReadOnly}
          data={Object.entries(SUBJECTS).map(([value, label]) => ({ value, label }))}
          value={shape.kind}
          onChange={({ currentTarget: { value } }) =>
            onChange(printShape(startOf(value as Subject, 'event' in shape ? shape.event : '')))
          }
        />
        <Fields shape={shape} change={change} around={around} />
        {onRemove && !around.isReadOnly && <RemoveButton label="Remove condition" onClick={onRemove} />}
      </Group>
      <Faults path={path} around={around} isWhole />
    </div>
  );
}

type FieldsProps = { shape: Row; change: (next: Row) => void; around: Around };

function Fields({ shape, change, around }: FieldsProps): ReactNode {
  const { facts, isReadOnly } = around;
  if (shape.kind === 'trait') return <TraitFields shape={shape} change={change} around={around} />;
  if (shape.kind === 'email')
    return (
      <TestField
        label="Email address"
        isReadOnly={isReadOnly}
        operators={OPERATORS_OF.email}
        examples={[]}
        value={shape.test}
        onChange={(test) => change({ ...shape, test })}
      />
    );
  if (shape.kind !== 'audience') return <EventFields shape={shape} change={change} around={around} />;
  return (
    <NativeSelect
      size="xs"
      aria-label="Audience"
      disabled={isReadOnly}
      data={[
        { value: '', label: 'select an audience' },
        ...facts.audiences.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      value={shape.audience}
      onChange={({ currentTarget }) => change({ ...shape, audience: currentTarget.value })}
    />
  );
}

type TraitProps = FieldsProps & { shape: Extract<Row, { kind: 'trait' }> };

function TraitFields({ shape, change, around: { facts, isReadOnly } }: TraitProps): ReactNode {
  const traitFacts = facts.traits.find(({ trait }) => trait === shape.trait);
  return (
    <>
      <NameField
        label="Trait"
        isReadOnly={isReadOnly}
        value={shape.trait}
        onChange={(trait) => change({ ...shape, trait })}
        names={facts.traits.map(({ trait }) => trait)}
      />
      <TestField
        label="Trait"
        isReadOnly={isReadOnly}
        operators={OPERATORS_OF.trait}
        examples={traitFacts?.examples ?? []}
        value={shape.test}
        onChange={(test) => change({ ...shape, test })}
      />
    </>
  );
}
