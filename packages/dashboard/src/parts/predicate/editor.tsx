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
  /** The names that this project has sent; other names can be typed too. */
  facts: PredicateFacts;
  /** The server's errors by path: `definition.all.1.at_least`. */
  faults?: { field?: string; message: string }[];
  /** The root of the paths; `definition` by default. */
  path?: string;
  readOnly?: boolean;
};

/** Edits conditions as a form or as JSON. Parts that the form cannot show appear as JSON in it. */
export function PredicateEditor(props: PredicateEditorProps): ReactNode {
  const { value, onChange, facts, faults = [], path = 'definition', readOnly = false } = props;
  const [mode, setMode] = useState<'form' | 'json'>('form');
  const around: Around = { facts, faults, isReadOnly: readOnly };
  return (
    <Stack gap="xs">
      <SegmentedControl
        size="xs"
        w="fit-content"
        aria-label="Edit conditions as"
        value={mode}
        onChange={(next) => setMode(next === 'json' ? 'json' : 'form')}
        data={[
          { value: 'form', label: 'Form' },
          { value: 'json', label: 'JSON' },
        ]}
      />
      {mode === 'json' ? (
        <JsonField value={value} onChange={onChange} readOnly={readOnly} label="Definition as JSON" />
      ) : (
        <ConditionNode value={value} onChange={onChange} path={path} around={around} depth={0} />
      )}
    </Stack>
  );
}
