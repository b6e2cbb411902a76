import { Anchor, Group, MultiSelect, Select, Stack, Text, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useProject } from '../../api/index.ts';
import { RichEditor } from '../../parts/rich-editor.tsx';
import { ConditionField } from './condition-field.tsx';
import { type Piece, pieceOf, type StepKind, textOf, textsOf, withField } from './document.ts';
import { useFacts, useFault } from './facts.ts';
import { EventField, SpanField, WhereField } from './fields.tsx';

type Props = { kind: StepKind; step: Piece; path: string; onChange: (step: Piece) => void };
type PartProps = Omit<Props, 'kind'>;

export function StepParts({ kind, ...props }: Props): ReactNode {
  switch (kind) {
    case 'email':
      return <NamedEmail {...props} />;
    case 'inline':
      return <InlineEmail {...props} />;
    case 'wait':
      return <Wait {...props} />;
    case 'wait_until':
      return <WaitUntil {...props} />;
    case 'wait_for':
      return <WaitFor {...props} />;
    case 'branch':
      return <Branch {...props} />;
    case 'end':
      return (
        <Text size="sm" c="dimmed">
          The run ends here.
        </Text>
      );
    default:
      return kind satisfies never;
  }
}

function NamedEmail({ step, path, onChange }: PartProps): ReactNode {
  const { emails, readOnly } = useFacts();
  const { id } = useProject();
  const name = textOf(step['draft']);
  return (
    <Group gap="sm" align="end">
      <Select
        label="Template"
        data={[...new Set([...emails, name])].filter(Boolean)}
        value={name || null}
        onChange={(next) => onChange({ ...step, draft: next ?? '' })}
        error={useFault(`${path}.draft`)}
        searchable
        placeholder="Select a template"
        nothingFoundMessage="No templates match"
        disabled={readOnly}
        w={{ base: '100%', sm: 320 }}
      />
      {name !== '' && (
        <Anchor
          size="sm"
          pb={8}
          renderRoot={(props) => (
            <Link
              to="/p/$project/templates/$template"
              params={{ project: String(id), template: name }}
              {...props}
            />
          )}
        >
          Open template
        </Anchor>
      )}
    </Group>
  );
}

function InlineEmail({ step, path, onChange }: PartProps): ReactNode {
  const { traits, readOnly } = useFacts();
  const email = pieceOf(step['draft']);
  const set = (field: string, value: string): void =>
    onChange({
      ...step,
      draft: field === 'body' ? { ...email, body: value } : withSubject(email, field, value),
    });
  const bodyFault = useFault(`${path}.draft.body`);
  return (
    <Stack gap="sm">
      <TextInput
        label="Subject"
        value={textOf(email['subject'])}
        onChange={({ currentTarget }) => set('subject', currentTarget.value)}
        error={useFault(`${path}.draft.subject`)}
        disabled={readOnly}
      />
      <TextInput
        label="Preview text"
        description="Shown after the subject in the inbox"
        value={textOf(email['preheader'])}
        onChange={({ currentTarget }) => set('preheader', currentTarget.value)}
        error={useFault(`${path}.draft.preheader`)}
        disabled={readOnly}
      />
      <RichEditor
        label="Body"
        value={textOf(email['body'])}
        onChange={(value) => set('body', value)}
        fault={bodyFault}
        variables={traits.map(({ trait }) => `{{ user.${trait} | default: "" }}`)}
        height={220}
      />
    </Stack>
  );
}

/** The subject field is required, but may be empty; a preview text is optional. */
function withSubject(email: Piece, field: string, value: string): Piece {
  return field === 'subject' ? { ...email, subject: value } : withField(email, field, value);
}

function Wait({ step, path, onChange }: PartProps): ReactNode {
  return (
    <SpanField
      label="For"
      value={textOf(step['wait'])}
      onChange={(wait) => onChange({ ...step, wait })}
      path={`${path}.wait`}
    />
  );
}

const DAYS = [
  { value: 'mon', label: 'Monday' },
  { value: 'tue', label: 'Tuesday' },
  { value: 'wed', label: 'Wednesday' },
  { value: 'thu', label: 'Thursday' },
  { value: 'fri', label: 'Friday' },
  { value: 'sat', label: 'Saturday' },
  { value: 'sun', label: 'Sunday' },
];

function WaitUntil({ step, path, onChange }: PartProps): ReactNode {
  const { readOnly } = useFacts();
  const until = pieceOf(step['wait_until']);
  const set = (next: Piece): void => onChange({ ...step, wait_until: next });
  return (
    <Group gap="sm" align="end">
      <TextInput
        type="time"
        label="Time in the user’s zone"
        value={textOf(until['at'])}
        onChange={({ currentTarget }) => set({ ...until, at: currentTarget.value.slice(0, 5) })}
        error={useFault(`${path}.wait_until`)}
        disabled={readOnly}
        w={170}
      />
      <MultiSelect
        label="On"
        data={DAYS}
        value={textsOf(until['weekdays'])}
        onChange={(days) => set(withField(until, 'weekdays', days))}
        placeholder={textsOf(until['weekdays']).length === 0 ? 'any day' : ''}
        disabled={readOnly}
        w={{ base: '100%', sm: 320 }}
      />
    </Group>
  );
}

function WaitFor({ step, path, onChange }: PartProps): ReactNode {
  const waited = pieceOf(step['wait_for']);
  const set = (next: Piece): void => onChange({ ...step, wait_for: next });
  const event = textOf(waited['event']);
  const at = `${path}.wait_for`;
  return (
    <>
      <Group gap="sm" align="end">
        <EventField
          label="Event"
          value={event}
          onChange={(next) => set({ ...waited, event: next })}
          path={`${at}.event`}
        />
        <SpanField
          label="For at most"
          value={textOf(waited['within'])}
          onChange={(within) => set({ ...waited, within })}
          path={`${at}.within`}
        />
      </Group>
      <WhereField
        value={waited['where']}
        onChange={(where) => set(withField(waited, 'where', where))}
        path={`${at}.where`}
        event={event}
      />
    </>
  );
}

function Branch({ step, path, onChange }: PartProps): ReactNode {
  const branch = pieceOf(step['branch']);
  return (
    <ConditionField
      label="Condition"
      none="No condition yet."
      value={branch['if']}
      onChange={(value) => onChange({ ...step, branch: withField(branch, 'if', value) })}
      path={`${path}.branch.if`}
    />
  );
}
