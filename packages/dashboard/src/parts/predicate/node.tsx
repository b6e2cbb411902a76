import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Around } from './around.ts';
import { ConditionRow } from './condition-row.tsx';
import { Faults } from './faults.tsx';
import { RemoveButton } from './fields.tsx';
import { JsonField } from './json-field.tsx';
import { printShape, type Shape, shapeOf, startOf } from './language.ts';
import classes from './predicate.module.css';

export type NodeProps = {
  value: unknown;
  onChange: (value: unknown) => void;
  /** The path of this part in the definition, as in errors. */
  path: string;
  around: Around;
  depth: number;
  onRemove?: () => void;
};

/** The depth limit of the language. */
const GROUPS_DEEP_MAX = 6;

export function ConditionNode(props: NodeProps): ReactNode {
  const { value, onChange, path } = props;
  const shape = shapeOf(value);
  if (shape.kind !== 'not')
    return <Plain {...props} shape={shape} isNot={false} onNot={() => onChange({ not: value })} />;
  const inside = {
    ...props,
    value: shape.of,
    onChange: (next: unknown) => onChange({ not: next }),
    path: `${path}.not`,
  };
  const inner = shapeOf(shape.of);
  return (
    <>
      <Faults path={path} around={props.around} />
      <Plain {...inside} shape={inner} isNot onNot={() => onChange(shape.of)} whole={props} />
    </>
  );
}

type PlainProps = NodeProps & Negatable & { shape: Shape; whole?: NodeProps };

function Plain({ whole, ...props }: PlainProps): ReactNode {
  const { shape, depth, around } = props;
  if (shape.kind === 'all' || shape.kind === 'any') return <GroupNode {...props} shape={shape} />;
  // A double negation is dropped.
  if (shape.kind === 'other' || shape.kind === 'not') return <AsJson {...(whole ?? props)} />;
  const row = <ConditionRow {...props} shape={shape} />;
  if (depth > 0 || around.isReadOnly) return row;
  const { value, onChange } = whole ?? props;
  return (
    <Stack gap="xs">
      {row}
      <Button
        variant="subtle"
        size="compact-xs"
        w="fit-content"
        leftSection={<Plus size={12} aria-hidden="true" />}
        onClick={() => onChange({ all: [value, printShape(startOf('trait'))] })}
      >
        Add condition
      </Button>
    </Stack>
  );
}

/** Shows a part that the form does not support as JSON. */
function AsJson({ value, onChange, path, around, onRemove }: NodeProps): ReactNode {
  return (
    <div className={classes.row}>
      <JsonField
        value={value}
        onChange={onChange}
        label="This part as JSON"
        readOnly={around.isReadOnly}
        height="120px"
      />
      <Faults path={path} around={around} isWhole />
      {onRemove && !around.isReadOnly && <RemoveButton label="Remove part" onClick={onRemove} />}
    </div>
  );
}

type Negatable = { isNot: boolean; onNot: () => void };
type GroupProps = NodeProps & Negatable & { shape: Extract<Shape, { kind: 'all' | 'any' }> };

function GroupNode({ shape, onChange, path, around, depth, onRemove, isNot, onNot }: GroupProps): ReactNode {
  const { kind, of } = shape;
  const set = (next: unknown[]): void => onChange({ [kind]: next });
  return (
    <fieldset className={classes.group}>
      <legend className={classes.legend}>
        <Group gap={6} wrap="wrap">
          <NativeSelect
            size="xs"
            aria-label="Combine conditions with"
            disabled={around.isReadOnly}
            data={GROUP_WORDS}
            value={`${isNot ? 'not ' : ''}${kind}`}
            onChange={({ currentTarget: { value } }) => {
              if (value.startsWith('not ') !== isNot) onNot();
              else onChange({ [value.replace('not ', '')]: of });
            }}
          />
          {onRemove && !around.isReadOnly && <RemoveButton label="Remove group" onClick={onRemove} />}
        </Group>
      </legend>
      <Faults path={path} around={around} under={[kind]} />
      <Stack gap={6}>
        {of.map((part, index) => (
          <ConditionNode
            key={index}
            value={part}
            onChange={(next) => set(of.with(index, next))}
            path={`${path}.${kind}.${index}`}
            around={around}
            depth={depth + 1}
            onRemove={() => set(of.toSpliced(index, 1))}
          />
        ))}
        {of.length === 0 && (
          <Text size="xs" c="dimmed">
            This group is empty. Add a condition.
          </Text>
        )}
      </Stack>
      {!around.isReadOnly && <Adding of={of} set={set} mayGroup={depth < GROUPS_DEEP_MAX} kind={kind} />}
    </fieldset>
  );
}

const GROUP_WORDS = [
  { value: 'all', label: 'all of these are true' },
  { value: 'any', label: 'any of these is true' },
  { value: 'not all', label: 'not all of these are true' },
  { value: 'not any', label: 'none of these is true' },
];

type AddingProps = { of: unknown[]; set: (of: unknown[]) => void; mayGroup: boolean; kind: 'all' | 'any' };

function Adding({ of, set, mayGroup, kind }: AddingProps): ReactNode {
  const condition = printShape(startOf('trait'));
  return (
    <Group gap="xs" mt={6}>
      <Button
        variant="light"
        size="compact-xs"
        leftSection={<Plus size={12} aria-hidden="true" />}
        onClick={() => set([...of, condition])}
      >
        Condition
      </Button>
      {mayGroup && (
        <Button
          variant="subtle"
          size="compact-xs"
          leftSection={<Plus size={12} aria-hidden="true" />}
          onClick={() => set([...of, { [kind === 'all' ? 'any' : 'all']: [condition] }])}
        >
          Group
        </Button>
      )}
    </Group>
  );
}
