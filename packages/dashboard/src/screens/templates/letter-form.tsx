import { SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import type { DocumentFault, LetterSource, TemplateShown } from '@beckon/contract/dashboard';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { RichEditor } from '../../parts/rich-editor.tsx';

type Props = {
  letter: LetterSource;
  onChange: (letter: LetterSource) => void;
  faults: DocumentFault[];
  readOnly: boolean;
  template: Pick<TemplateShown, 'variables' | 'others'>;
};

/** Subject, preheader and body: rich text that is Markdown underneath, or MJML. */
export function LetterForm({ letter, onChange, faults, readOnly, template }: Props): ReactNode {
  const faultOf = (field: string): string | undefined => {
    const own = faults.filter((fault) => fault.field === field);
    return own.length === 0 ? undefined : own.map(({ message }) => message).join(' ');
  };
  const line = (field: 'subject' | 'preheader', label: string, description?: string): ReactNode => (
    <TextInput
      label={label}
      description={description}
      value={letter[field]}
      onChange={({ currentTarget }) => onChange({ ...letter, [field]: currentTarget.value })}
      error={faultOf(field)}
      disabled={readOnly}
    />
  );
  return (
    <Stack gap="md">
      {line('subject', 'Subject')}
      {line('preheader', 'Preheader', 'Shown behind the subject in most mailboxes')}
      <SegmentedControl
        aria-label="Written in"
        size="xs"
        value={letter.format}
        disabled={readOnly}
        onChange={(format) =>
          onChange({ ...letter, ...bodyFor(format === 'mjml' ? 'mjml' : 'markdown', letter) })
        }
        data={[
          { value: 'markdown', label: 'Letter' },
          { value: 'mjml', label: 'MJML' },
        ]}
        w="fit-content"
      />
      {letter.format === 'mjml' || readOnly ? (
        <CodeEditor
          label="Body"
          language={letter.format === 'mjml' ? 'html' : 'liquid'}
          value={letter.body}
          onChange={(body) => onChange({ ...letter, body })}
          readOnly={readOnly}
          fault={faultOf('body')}
          height="480px"
        />
      ) : (
        <RichEditor
          label="Body"
          value={letter.body}
          onChange={(body) => onChange({ ...letter, body })}
          fault={faultOf('body')}
          variables={variablesOf(template)}
          height={420}
        />
      )}
      <Text size="xs" c="dimmed">
        Variables are Liquid: <code>{'{{ person.name | default: "there" }}'}</code>. The footer with the way
        out is added to every letter.
      </Text>
    </Stack>
  );
}

/** Each with other words for whoever has nothing there, so that the letter does not wait for them. */
function variablesOf({ variables, others }: Props['template']): string[] {
  const names = new Set([...variables.map(({ name }) => name), ...others.map(({ name }) => name)]);
  return [...names].filter((name) => name !== 'unsubscribe_url').map((name) => `{{ ${name} | default: "" }}`);
}

const MJML_START = `<mjml>
  <mj-body>
    <mj-section>
      <mj-column>
        <mj-text>Hi {{ person.name | default: "there" }},</mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`;

/** What was written stays, unless it cannot be meant in the other format. */
function bodyFor(
  format: LetterSource['format'],
  letter: LetterSource,
): Pick<LetterSource, 'format' | 'body'> {
  const isMjml = letter.body.includes('<mjml');
  if (format === 'mjml') return { format, body: isMjml ? letter.body : MJML_START };
  return { format, body: letter.body };
}
