import { Alert } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { CodeEditor } from '../code-editor.tsx';

type JsonFieldProps = {
  value: unknown;
  onChange: (value: unknown) => void;
  label: string;
  readOnly: boolean;
  height?: string;
};

/** Invalid JSON does not change the definition. */
export function JsonField({ value, onChange, label, readOnly, height = '220px' }: JsonFieldProps): ReactNode {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const [fault, setFault] = useState<string>();
  function take(next: string): void {
    setText(next);
    try {
      onChange(JSON.parse(next));
      setFault(undefined);
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
  }
  return (
    <>
      <CodeEditor
        language="json"
        label={label}
        value={text}
        onChange={take}
        readOnly={readOnly}
        height={height}
        fault={fault}
      />
      {fault !== undefined && (
        <Alert color="yellow" variant="light" p="xs">
          Invalid JSON. The definition changes when the JSON is valid.
        </Alert>
      )}
    </>
  );
}
