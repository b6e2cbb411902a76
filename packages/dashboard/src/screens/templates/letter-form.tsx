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
  template: Pick<TemplateShown, 'variables' | 'other_variables'>;
};

/** Subject, preview text and body: Markdown as rich text, or MJML. */
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
      {line('preheader', 'Preview text', 'Shown after the subject in the inbox')}
      <SegmentedControl
        aria-label="Format"
        size="xs"
        value={letter.format}
        disabled={readOnly}
        onChange={(format) =>
          onChange({ ...letter, ...bodyFor(format === 'mjml' ? 'mjml' : 'markdown', letter) })
        }
        data={[
          { value: 'markdown', label: 'Markdown' },
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
        Variables are Liquid: <code>{'{{ user.name | default: "there" }}'}</code>. A footer with the
        unsubscribe link is added to every email.
      </Text>
    </Stack>
  );
}

/** Each variable gets a default, so that an email is not held for a missing value. */
function variablesOf({ variables, other_variables: others }: Props['template']): string[] {
  const names = new Set([...variables.map(({ name }) => name), ...others.map(({ name }) => name)]);
  return [...names].filter((name) => name !== 'unsubscribe_url').map((name) => `{{ ${name} | default: "" }}`);
}

const MJML_START = `<mjml>
  <mj-body>
    <mj-section>
      <mj-column>
        <mj-text>Hi {{ user.name | default: "there" }},</mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`;

/** The text is kept, unless it is invalid in the other format. */
function bodyFor(
  format: LetterSource['format'],
  letter: LetterSource,
): Pick<LetterSource, 'format' | 'body'> {
  const isMjml = letter.body.includes('<mjml');
  if (format === 'mjml') return { format, body: isMjml ? letter.body : MJML_START };
  return { format, body: letter.body };
}
