import { type ReactNode, useState } from 'react';
import type { RuleDocument } from '@beckon/contract/dashboard';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { useFacts } from './facts.ts';
import type { PartProps } from './limits-field.tsx';

/** Valid JSON replaces the rule; invalid JSON leaves it unchanged. */
export function JsonForm({ document, onChange }: PartProps): ReactNode {
  const { readOnly, faults } = useFacts();
  const [text, setText] = useState(() => JSON.stringify(document, null, 2));
  const [broken, setBroken] = useState<string>();
  const type = (next: string): void => {
    setText(next);
    const read = readDocument(next);
    setBroken(typeof read === 'string' ? read : undefined);
    if (typeof read !== 'string') onChange(read);
  };
  const messages = faults.map(({ message }) => message).join(' ');
  return (
    <CodeEditor
      label="Rule as JSON"
      language="json"
      value={text}
      onChange={type}
      readOnly={readOnly}
      fault={broken ?? (messages === '' ? undefined : messages)}
      height="60vh"
    />
  );
}

function readDocument(text: string): RuleDocument | string {
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read === 'object' && read !== null && !Array.isArray(read)) return read as RuleDocument;
    return 'A rule is an object: { "name": …, "when": …, "steps": … }';
  } catch (error) {
    return error instanceof Error ? error.message : 'Invalid JSON';
  }
}
