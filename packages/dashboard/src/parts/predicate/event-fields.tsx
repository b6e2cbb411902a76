import { Button, Checkbox, Group, NativeSelect, Text } from '@mantine/core';
import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Around } from './around.ts';
import { NameField, NumberField, RemoveButton, SpanField, TestField } from './fields.tsx';
import { type CountCompare, OPERATORS_OF, type PropertyTest, type Shape } from './language.ts';
import classes from './predicate.module.css';

type OfEvent = Extract<Shape, { kind: 'count' | 'sum' | 'first' | 'last' }>;
type Props<S extends OfEvent> = { shape: S; change: (next: OfEvent) => void; around: Around };

/** Fields for how often, how much or when an event happened. */
export function EventFields({ shape, change, around }: Props<OfEvent>): ReactNode {
  const { facts, isReadOnly } = around;
  const name = (
    <NameField
      label="Event"
      isReadOnly={isReadOnly}
      value={shape.event}
      onChange={(event) => change({ ...shape, event })}
      names={facts.events.map((event) => event.name)}
    />
  );
  if (shape.kind === 'count')
    return (
      <>
        {name}
        <CountFields shape={shape} change={change} around={around} />
      </>
    );
  if (shape.kind === 'sum')
    return (
      <>
        {name}
        <SumFields shape={shape} change={change} around={around} />
      </>
    );
  return (
    <>
      {name}
      <TestField
        label="Time"
        isReadOnly={isReadOnly}
        operators={OPERATORS_OF.moment}
        examples={[]}
        value={shape.test}
        onChange={(test) => change({ ...shape, test })}
      />
    </>
  );
}

const COUNTS: { value: CountCompare; label: string }[] = [
  { value: 'ever', label: 'at least once' },
  { value: 'at_least', label: 'at least … times' },
  { value: 'at_most', label: 'at most … times' },
  { value: 'exactly', label: 'exactly … times' },
];

function CountFields({ shape, change, around }: Props<Extract<Shape, { kind: 'count' }>>): ReactNode {
  const { isReadOnly } = around;
  const { compare, count, within } = shape;
  return (
    <>
      <NativeSelect
        size="xs"
        aria-label="How often"
        disabled={isReadOnly}
        data={COUNTS}
        value={compare}
        onChange={({ currentTarget }) => change({ ...shape, compare: currentTarget.value as CountCompare })}
      />
      {compare !== 'ever' && (
        <NumberField
          label="How many times"
          isReadOnly={isReadOnly}
          min={compare === 'at_least' ? 1 : 0}
          value={count}
          onChange={(next) => change({ ...shape, count: next })}
        />
      )}
      <Checkbox
        size="xs"
        label="in the last"
        disabled={isReadOnly}
        checked={within !== null}
        onChange={({ currentTarget }) =>
          change({ ...shape, within: currentTarget.checked ? '30d' : null, where: [] })
        }
      />
      {within !== null && (
        <>
          <SpanField
            label="Window"
            isReadOnly={isReadOnly}
            value={within}
            onChange={(next) => change({ ...shape, within: next })}
          />
          <Where shape={shape} change={change} around={around} />
        </>
      )}
    </>
  );
}

function SumFields({ shape, change, around }: Props<Extract<Shape, { kind: 'sum' }>>): ReactNode {
  const { isReadOnly } = around;
  return (
    <>
      <NameField
        label="Property to sum"
        isReadOnly={isReadOnly}
        value={shape.property}
        onChange={(property) => change({ ...shape, property })}
        names={propertiesOf(shape, around, 'number')}
      />
      <TestField
        label="Sum"
        isReadOnly={isReadOnly}
        operators={OPERATORS_OF.sum}
        examples={[]}
        value={shape.test}
        onChange={(test) => change({ ...shape, test })}
      />
      <Text size="xs">in the last</Text>
      <SpanField
        label="Window"
        isReadOnly={isReadOnly}
        value={shape.within}
        onChange={(within) => change({ ...shape, within })}
      />
      <Where shape={shape} change={change} around={around} />
    </>
  );
}

function propertiesOf({ event }: OfEvent, { facts }: Around, type?: string): string[] {
  const properties = facts.events.find(({ name }) => name === event)?.properties ?? [];
  return properties
    .filter(({ types }) => type === undefined || types.includes(type))
    .map(({ property }) => property);
}

type WithWhere = Extract<Shape, { kind: 'count' | 'sum' }>;

/** Counts only events that match all of these. */
function Where({ shape, change, around }: Props<WithWhere>): ReactNode {
  const { where } = shape;
  const { isReadOnly } = around;
  const set = (next: PropertyTest[]): void => change({ ...shape, where: next });
  return (
    <div className={classes.where}>
      {where.map(({ property, test }, index) => (
        <Group key={index} gap={6} wrap="wrap">
          <Text size="xs">{index === 0 ? 'where' : 'and'}</Text>
          <NameField
            label="Property"
            isReadOnly={isReadOnly}
            value={property}
            onChange={(next) => set(where.with(index, { property: next, test }))}
            names={propertiesOf(shape, around)}
          />
          <TestField
            label="Property"
            isReadOnly={isReadOnly}
            operators={OPERATORS_OF.property}
            examples={[]}
            value={test}
            onChange={(next) => set(where.with(index, { property, test: next }))}
          />
          {!isReadOnly && (
            <RemoveButton label="Remove property" onClick={() => set(where.toSpliced(index, 1))} />
          )}
        </Group>
      ))}
      {!isReadOnly && (
        <Button
          variant="subtle"
          size="compact-xs"
          leftSection={<Plus size={12} aria-hidden="true" />}
          onClick={() => set([...where, { property: '', test: { op: 'equals', with: '' } }])}
        >
          Add property filter
        </Button>
      )}
    </div>
  );
}
