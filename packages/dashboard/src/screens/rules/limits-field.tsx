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
import { printShape, startOf } from '../../parts/predicate/language.ts';
import { useFacts, useFault } from './facts.ts';
import { EventField, EventsField, PropertiesField, SpanField, WhereRow } from './fields.tsx';

export type PartProps = { document: RuleDocument; onChange: (document: RuleDocument) => void };

const ENTRIES = Object.entries(ENTRY_LABELS).map(([value, label]) => ({ value, label }));

/** The name of the rule. */
export function NameField({ document, onChange }: PartProps): ReactNode {
  const { readOnly } = useFacts();
  return (
    <TextInput
      label="Name"
      value={textOf(document['name'])}
      onChange={({ currentTarget }) => onChange({ ...document, name: currentTarget.value })}
      error={useFault('name')}
      disabled={readOnly}
      maw={420}
      maxLength={100}
    />
  );
}

/** The enrollment setting: how often a user can be enrolled. */
export function EntryField({ document, onChange }: PartProps): ReactNode {
  const { readOnly } = useFacts();
  const kind = entryKind(document['enrollment']);
  const entry = pieceOf(document['enrollment']);
  const set = (next: unknown): void => onChange(withField(document, 'enrollment', next));
  const event = eventOf(triggersOf(document)[0] ?? {});
  return (
    <Stack gap="sm">
      <Select
        label="Enroll a user"
        data={ENTRIES}
        value={kind}
        placeholder="Written in JSON"
        allowDeselect={false}
        disabled={readOnly}
        error={useFault('enrollment')}
        onChange={(next) => set(newEntry((next ?? 'once') as EntryKind))}
        w={{ base: '100%', sm: 320 }}
      />
      {kind === 'once_per' && (
        <PropertiesField
          label="Once for each"
          value={entry['once_per']}
          onChange={(names) => set({ ...entry, once_per: names })}
          path="enrollment.once_per"
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
        path="enrollment.cooldown"
      />
      <PropertiesField
        label="For each value of (empty: per user)"
        value={entry['per']}
        onChange={(names) => set(withField(entry, 'per', names))}
        path="enrollment.per"
        event={event}
      />
      <Switch
        label="Enroll again when an event first matches a filter"
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
        The rule follows one subject at a time, such as a trial. A newer subject replaces the older one.
      </Text>
      <EventField
        label="The subject starts with"
        value={textOf(about['event'])}
        onChange={(event) => set({ ...about, event })}
        path="about"
      />
      <EventsField
        label="The subject ends with one of these events"
        value={textsOf(about['until'])}
        onChange={(until) => set({ ...about, until })}
        path="about.until"
      />
    </Stack>
  );
}

/** Exit conditions and the goal. */
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
        label="End the run when one of these events happens"
        value={textsOf(exits['events'])}
        onChange={(events) => set('events', events)}
        path="exits.events"
      />
      <ConditionField
        label="Or when a condition is true"
        none="No exit condition."
        value={exits['when']}
        onChange={(value) => set('when', value)}
        path="exits.when"
      />
      <Switch
        label="End the run when the user replies"
        checked={exits['on_reply'] !== false}
        disabled={readOnly}
        onChange={({ currentTarget }) => set('on_reply', currentTarget.checked ? undefined : false)}
      />
      <Text size="sm" fw={550}>
        Goal
      </Text>
      <ConditionField
        label="Set a goal"
        none="No goal. Without one, results show no success rate."
        value={document['goal']}
        onChange={(value) => onChange(withField(document, 'goal', value))}
        path="goal"
        start={printShape(startOf('count'))}
      />
    </Stack>
  );
}

/** Review or autopilot, and the deadline. */
export function ModeField({ document, onChange }: PartProps): ReactNode {
  const { readOnly } = useFacts();
  const isDraft = document['mode'] === 'draft';
  const deadline = textOf(document['deadline']);
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="Sending mode"
        value={isDraft ? 'draft' : 'autopilot'}
        disabled={readOnly}
        onChange={(mode) => onChange({ ...document, mode })}
        data={[
          { value: 'draft', label: 'Approve each draft' },
          { value: 'autopilot', label: 'Autopilot' },
        ]}
        w="fit-content"
      />
      {!isDraft && (
        <>
          <Switch
            label="Use the project’s deadline"
            checked={document['deadline'] === undefined}
            disabled={readOnly}
            onChange={({ currentTarget }) =>
              onChange(withField(document, 'deadline', currentTarget.checked ? undefined : '4h'))
            }
          />
          {document['deadline'] !== undefined && (
            <SpanField
              label="A draft waits for review"
              value={deadline}
              onChange={(next) => onChange({ ...document, deadline: next })}
              path="deadline"
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
        {number('holdout', 'Holdout group in % (0)', 50)}
      </Group>
      <SpanField
        label="Ignore events older than (24 h)"
        value={textOf(document['max_event_age'])}
        onChange={(next) => onChange(withField(document, 'max_event_age', next))}
        path="max_event_age"
      />
      <SpanField
        label="Expire drafts after their deadline by (72 h)"
        value={textOf(document['expires_after'])}
        onChange={(next) => onChange(withField(document, 'expires_after', next))}
        path="expires_after"
      />
      <TextInput
        label="Topic"
        description="Topic id. Users who unsubscribed from it get no email."
        value={textOf(document['topic'])}
        onChange={({ currentTarget }) => onChange(withField(document, 'topic', currentTarget.value))}
        error={useFault('topic')}
        disabled={readOnly}
        maw={260}
      />
      <Switch
        label="Count its emails toward the frequency cap"
        checked={document['counts'] !== false}
        disabled={readOnly}
        onChange={({ currentTarget }) => onChange({ ...document, counts: currentTarget.checked })}
      />
      <Switch
        label="Track opens and clicks, if the project tracks them"
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
