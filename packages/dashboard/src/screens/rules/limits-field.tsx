import { Group, NumberInput, SegmentedControl, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import type { RuleDocument } from '@beckon/contract/dashboard';
import { ConditionField } from './condition-field.tsx';
import {
  ENTRY_LABELS,
  entryKind,
  type EntryKind,
  newEntry,
  type Piece,
  pieceOf,
  textOf,
  textsOf,
  triggersOf,
  eventOf,
  withField,
} from './document.ts';
import { useFacts, useFault } from './facts.ts';
import { EventField, EventsField, PropertiesField, SpanField, WhereRow } from './fields.tsx';

export type PartProps = { document: RuleDocument; onChange: (document: RuleDocument) => void };

const ENTRIES = Object.entries(ENTRY_LABELS).map(([value, label]) => ({ value, label }));

/** How often one person comes in. */
export function EntryField({ document, onChange }: PartProps): ReactNode {
  const { readOnly } = useFacts();
  const kind = entryKind(document['entry']);
  const entry = pieceOf(document['entry']);
  const set = (next: unknown): void => onChange(withField(document, 'entry', next));
  const event = eventOf(triggersOf(document)[0] ?? {});
  return (
    <Stack gap="sm">
      <Select
        label="One person comes in"
        data={ENTRIES}
        value={kind}
        placeholder="Written in JSON"
        allowDeselect={false}
        disabled={readOnly}
        error={useFault('entry')}
        onChange={(next) => set(newEntry((next ?? 'once') as EntryKind))}
        w={{ base: '100%', sm: 320 }}
      />
      {kind === 'once_per' && (
        <PropertiesField
          label="Once for each"
          value={entry['once_per']}
          onChange={(names) => set({ ...entry, once_per: names })}
          place="entry.once_per"
          event={event}
        />
      )}
      {kind === 'about' && <AboutField document={document} onChange={onChange} />}
      {kind === 'cooldown' && <CooldownFields entry={entry} event={event} set={set} />}
    </Stack>
  );
}

type CooldownProps = { entry: Piece; event: string; set: (entry: Piece) => void };

function CooldownFields({ entry, event, set }: CooldownProps): ReactNode {
  const { readOnly } = useFacts();
  const again = entry['again'];
  const setAgain = (test: Piece | undefined): void => set(withField(entry, 'again', test));
  return (
    <>
      <SpanField
        label="Once in"
        value={textOf(entry['cooldown'])}
        onChange={(cooldown) => set({ ...entry, cooldown })}
        place="entry.cooldown"
      />
      <PropertiesField
        label="For each (empty: for each person)"
        value={entry['per']}
        onChange={(names) => set(withField(entry, 'per', names))}
        place="entry.per"
        event={event}
      />
      <Switch
        label="And once more when an event first passes a test"
        checked={again !== undefined}
        disabled={readOnly}
        onChange={({ currentTarget }) =>
          setAgain(currentTarget.checked ? { property: '', at_least: 100 } : undefined)
        }
      />
      {again !== undefined && (
        <WhereRow
          test={pieceOf(again)}
          event={event}
          onChange={setAgain}
          onRemove={() => setAgain(undefined)}
        />
      )}
    </>
  );
}

function AboutField({ document, onChange }: PartProps): ReactNode {
  const about = pieceOf(document['about']);
  const set = (next: object): void => onChange({ ...document, about: next });
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        The rule is about one thing at a time, such as a trial. A newer one takes the place of the old one.
      </Text>
      <EventField
        label="It begins with"
        value={textOf(about['event'])}
        onChange={(event) => set({ ...about, event })}
        place="about"
      />
      <EventsField
        label="It is over when one of these happens"
        value={textsOf(about['until'])}
        onChange={(until) => set({ ...about, until })}
        place="about.until"
      />
    </Stack>
  );
}

/** What ends it early, and what counts as a success. */
export function ExitsField({ document, onChange }: PartProps): ReactNode {
  const { readOnly } = useFacts();
  const exits = pieceOf(document['exits']);
  const set = (field: string, value: unknown): void => {
    const next = withField(exits, field, value);
    onChange(
      Object.keys(next).length === 0 ? withField(document, 'exits', undefined) : { ...document, exits: next },
    );
  };
  return (
    <Stack gap="sm">
      <EventsField
        label="It ends early when one of these happens"
        value={textsOf(exits['events'])}
        onChange={(events) => set('events', events)}
        place="exits.events"
      />
      <ConditionField
        label="Or when a condition holds"
        none="No condition ends it."
        value={exits['when']}
        onChange={(value) => set('when', value)}
        place="exits.when"
      />
      <Switch
        label="A reply ends it"
        checked={exits['on_reply'] !== false}
        disabled={readOnly}
        onChange={({ currentTarget }) => set('on_reply', currentTarget.checked ? undefined : false)}
      />
      <Text size="sm" fw={550}>
        Goal
      </Text>
      <ConditionField
        label="Set a goal"
        none="It has no goal, so nothing says whether it works."
        value={document['goal']}
        onChange={(value) => onChange(withField(document, 'goal', value))}
        place="goal"
      />
    </Stack>
  );
}

/** Who sends, and after how long. */
export function ModeField({ document, onChange }: PartProps): ReactNode {
  const { readOnly } = useFacts();
  const isDraft = document['mode'] === 'draft';
  const deadline = textOf(document['deadline']);
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="Who sends its letters"
        value={isDraft ? 'draft' : 'autopilot'}
        disabled={readOnly}
        onChange={(mode) => onChange({ ...document, mode })}
        data={[
          { value: 'draft', label: 'A person sends each' },
          { value: 'autopilot', label: 'Autopilot' },
        ]}
        w="fit-content"
      />
      {!isDraft && (
        <>
          <Switch
            label="Wait as long as the project says"
            checked={document['deadline'] === undefined}
            disabled={readOnly}
            onChange={({ currentTarget }) =>
              onChange(withField(document, 'deadline', currentTarget.checked ? undefined : '4h'))
            }
          />
          {document['deadline'] !== undefined && (
            <SpanField
              label="A draft waits for a person"
              value={deadline}
              onChange={(next) => onChange({ ...document, deadline: next })}
              place="deadline"
              seconds
            />
          )}
        </>
      )}
    </Stack>
  );
}

export function LimitsField({ document, onChange }: PartProps): ReactNode {
  const { readOnly } = useFacts();
  const number = (field: string, label: string, most: number): ReactNode => (
    <NumberOf document={document} onChange={onChange} field={field} label={label} most={most} />
  );
  return (
    <Stack gap="sm">
      <Group gap="md" align="start">
        {number('priority', 'Priority (50)', 1_000)}
        {number('holdout', 'Of 100 people held out (0)', 50)}
      </Group>
      <SpanField
        label="Events older than this start nothing (24 h)"
        value={textOf(document['max_event_age'])}
        onChange={(next) => onChange(withField(document, 'max_event_age', next))}
        place="max_event_age"
      />
      <SpanField
        label="Drop a letter so long after its deadline (72 h)"
        value={textOf(document['expires_after'])}
        onChange={(next) => onChange(withField(document, 'expires_after', next))}
        place="expires_after"
      />
      <TextInput
        label="Topic"
        description="Its id: who wants none of it gets none"
        value={textOf(document['topic'])}
        onChange={({ currentTarget }) => onChange(withField(document, 'topic', currentTarget.value))}
        error={useFault('topic')}
        disabled={readOnly}
        maw={260}
      />
      <Switch
        label="Its letters count for the frequency cap"
        checked={document['counts'] !== false}
        disabled={readOnly}
        onChange={({ currentTarget }) => onChange({ ...document, counts: currentTarget.checked })}
      />
      <Switch
        label="Opens and clicks are tracked, where the project does that"
        checked={document['tracking'] !== false}
        disabled={readOnly}
        onChange={({ currentTarget }) => onChange({ ...document, tracking: currentTarget.checked })}
      />
    </Stack>
  );
}

type NumberProps = PartProps & { field: string; label: string; most: number };

function NumberOf({ document, onChange, field, label, most }: NumberProps): ReactNode {
  const { readOnly } = useFacts();
  const value = document[field];
  return (
    <NumberInput
      label={label}
      value={typeof value === 'number' ? value : ''}
      min={0}
      max={most}
      allowDecimal={false}
      error={useFault(field)}
      disabled={readOnly}
      onChange={(next) => onChange(withField(document, field, next === '' ? undefined : Number(next)))}
      w={200}
    />
  );
}
