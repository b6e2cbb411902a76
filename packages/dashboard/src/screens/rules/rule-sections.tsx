import { Accordion, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { ConditionField } from './condition-field.tsx';
import { piecesOf, triggersOf, withField, withTriggers } from './document.ts';
import { useFault } from './facts.ts';
import {
  EntryField,
  ExitsField,
  LimitsField,
  ModeField,
  NameField,
  type PartProps,
} from './limits-field.tsx';
import classes from './rules.module.css';
import { StepsField } from './steps-field.tsx';
import { TriggersField } from './trigger-field.tsx';

/** The parts of a rule as a form, one below the other. */
export function RuleSections({ document, onChange }: PartProps): ReactNode {
  const opened = useOpened();
  return (
    <div>
      <NameField document={document} onChange={onChange} />
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
