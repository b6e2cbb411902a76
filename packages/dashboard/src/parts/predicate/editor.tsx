import { SegmentedControl, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { PredicateFacts } from '@beckon/contract/dashboard';
import type { Around } from './around.ts';
import { JsonField } from './json-field.tsx';
import { ConditionNode } from './node.tsx';

export type PredicateEditorProps = {
  /** A definition, as JSON. */
  value: unknown;
  onChange: (value: unknown) => void;
  /** The names that this project has really sent; every other one can be typed too. */
  facts: PredicateFacts;
  /** What the server says is wrong, each at its place: `definition.all.1.at_least`. */
  faults?: { field?: string; message: string }[];
  /** Where faults begin: `definition`, unless said. */
  place?: string;
  readOnly?: boolean;
};

/** Conditions in sentences, or the definition itself: what the form cannot show is shown as JSON within it. */
export function PredicateEditor(props: PredicateEditorProps): ReactNode {
  const { value, onChange, facts, faults = [], place = 'definition', readOnly = false } = props;
  const [mode, setMode] = useState<'form' | 'json'>('form');
  const around: Around = { facts, faults, isReadOnly: readOnly };
  return (
    <Stack gap="xs">
      <SegmentedControl
        size="xs"
        w="fit-content"
        aria-label="How to edit the conditions"
        value={mode}
        onChange={(next) => setMode(next === 'json' ? 'json' : 'form')}
        data={[
          { value: 'form', label: 'Sentences' },
          { value: 'json', label: 'JSON' },
        ]}
      />
      {mode === 'json' ? (
        <JsonField value={value} onChange={onChange} readOnly={readOnly} label="The definition" />
      ) : (
        <ConditionNode value={value} onChange={onChange} place={place} around={around} depth={0} />
      )}
    </Stack>
  );
}
