import { Stack, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import type { DocumentFault, EmailSource, TemplateDetails } from '@beckon/contract/dashboard';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { RichEditor } from '../../parts/rich-editor.tsx';
import { Muted } from '../../parts/muted.tsx';
import { Segments } from '../../parts/segments.tsx';

type Props = {
  email: EmailSource;
  onChange: (email: EmailSource) => void;
  faults: DocumentFault[];
  readOnly: boolean;
  template: Pick<TemplateDetails, 'variables' | 'other_variables'>;
};

/** Subject, preview text and body: Markdown as rich text, or MJML. */
export function EmailForm({ email, onChange, faults, readOnly, template }: Props): ReactNode {
  const faultOf = (field: string): string | undefined => {
    const ownFaults = faults.filter((fault) => fault.field === field);
    return ownFaults.length === 0 ? undefined : ownFaults.map(({ message }) => message).join(' ');
  };
  const line = (field: 'subject' | 'preheader', label: string, description?: string): ReactNode => (
    <TextInput
      label={label}
      description={description}
      value={email[field]}
      onChange={({ currentTarget }) => onChange({ ...email, [field]: currentTarget.value })}
      error={faultOf(field)}
      disabled={readOnly}
    />
  );
  return (
    <Stack gap="md">
      {line('subject', 'Subject')}
      {line('preheader', 'Preview text', 'Shown after the subject in the inbox')}
      <Segments
        label="Format"
        value={email.format}
        disabled={readOnly}
        onChange={(format) => onChange({ ...email, ...bodyFor(format, email) })}
        options={{ markdown: 'Markdown', mjml: 'MJML' }}
        w="fit-content"
      />
      {email.format === 'mjml' || readOnly ? (
        <CodeEditor
          label="Body"
          language={email.format === 'mjml' ? 'html' : 'liquid'}
          value={email.body}
          onChange={(body) => onChange({ ...email, body })}
          readOnly={readOnly}
          fault={faultOf('body')}
          height="480px"
        />
      ) : (
        <RichEditor
          label="Body"
          value={email.body}
          onChange={(body) => onChange({ ...email, body })}
          fault={faultOf('body')}
          variables={variablesOf(template)}
          height={420}
        />
      )}
      <Muted size="xs">
        Variables are Liquid: <code>{'{{ user.name | default: "there" }}'}</code>. A footer with the
        unsubscribe link is added to every email.
      </Muted>
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
function bodyFor(format: EmailSource['format'], email: EmailSource): Pick<EmailSource, 'format' | 'body'> {
  const isMjml = email.body.includes('<mjml');
  if (format === 'mjml') return { format, body: isMjml ? email.body : MJML_START };
  return { format, body: email.body };
}
