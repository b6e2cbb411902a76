import { Accordion, SegmentedControl, Stack, TextInput, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { RuleDocument } from '@beckon/contract/dashboard';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ConditionField } from './condition-field.tsx';
import { piecesOf, textOf, triggersOf, withField, withTriggers } from './document.ts';
import { useFacts, useFault } from './facts.ts';
import { EntryField, ExitsField, LimitsField, ModeField, type PartProps } from './limits-field.tsx';
import classes from './rules.module.css';
import { StepsField } from './steps-field.tsx';
import { TriggersField } from './trigger-field.tsx';

type Props = PartProps & { view: 'form' | 'json'; onView: (view: 'form' | 'json') => void };

/** Edits a rule as a form or as JSON. */
export function RuleForm({ view, onView, ...props }: Props): ReactNode {
  return (
    <Stack gap="md">
      <SegmentedControl
        aria-label="Edit as"
        size="xs"
        value={view}
        onChange={(next) => onView(next === 'json' ? 'json' : 'form')}
        data={[
          { value: 'form', label: 'Form' },
          { value: 'json', label: 'JSON' },
        ]}
        w="fit-content"
      />
      {view === 'json' ? <JsonForm {...props} /> : <Sections {...props} />}
    </Stack>
  );
}

function Sections({ document, onChange }: PartProps): ReactNode {
  const { readOnly } = useFacts();
  const opened = useOpened();
  return (
    <div>
      <TextInput
        label="Name"
        value={textOf(document['name'])}
        onChange={({ currentTarget }) => onChange({ ...document, name: currentTarget.value })}
        error={useFault('name')}
        disabled={readOnly}
        maw={420}
        maxLength={100}
      />
      <Section title="When">
        <TriggersField
          triggers={triggersOf(document)}
          isList={Array.isArray(document['when'])}
          onChange={(triggers) => onChange(withTriggers(document, triggers))}
        />
      </Section>
      <Section title="Only if">
        <ConditionField
          label="Add condition"
          none="All users who trigger the rule."
          value={document['only_if']}
          onChange={(value) => onChange(withField(document, 'only_if', value))}
          path="only_if"
        />
      </Section>
      <Section title="Then">
        <StepsField
          steps={piecesOf(document['steps'])}
          onChange={(steps) => onChange({ ...document, steps })}
          path="steps"
        />
      </Section>
      <Section title="Sending">
        <ModeField document={document} onChange={onChange} />
      </Section>
      <Section title="Enrollment">
        <EntryField document={document} onChange={onChange} />
      </Section>
      <Accordion multiple variant="default" chevronPosition="left" {...opened}>
        <Accordion.Item value="exits">
          <Accordion.Control>Exits and goal</Accordion.Control>
          <Accordion.Panel>
            <ExitsField document={document} onChange={onChange} />
          </Accordion.Panel>
        </Accordion.Item>
        <Accordion.Item value="limits">
          <Accordion.Control>Limits</Accordion.Control>
          <Accordion.Panel>
            <LimitsField document={document} onChange={onChange} />
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </div>
  );
}

/** The open sections: those that the member opened, and those with an error. */
function useOpened(): { value: string[]; onChange: (value: string[]) => void } {
  const [chosen, setChosen] = useState<string[]>([]);
  const exits = [useFault('exits'), useFault('goal')];
  const limits = [
    useFault('topic'),
    useFault('priority'),
    useFault('expires_after'),
    useFault('holdout'),
    useFault('max_event_age'),
  ];
  const isFaulty = (faults: (string | undefined)[]): boolean => faults.some((fault) => fault !== undefined);
  const faulty = [...(isFaulty(exits) ? ['exits'] : []), ...(isFaulty(limits) ? ['limits'] : [])];
  return { value: [...new Set([...chosen, ...faulty])], onChange: setChosen };
}

function Section({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section className={classes.section} aria-label={title}>
      <Title order={2} size="h5" mb="sm">
        {title}
      </Title>
      {children}
    </section>
  );
}

/** Valid JSON replaces the rule; invalid JSON leaves it unchanged. */
function JsonForm({ document, onChange }: PartProps): ReactNode {
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
