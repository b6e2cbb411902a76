import { ActionIcon, Button, Group, Paper, Select, Stack, Text, TextInput } from '@mantine/core';
import { Plus, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import {
  distanceOf,
  eventOf,
  newTrigger,
  type Piece,
  pieceOf,
  textOf,
  textsOf,
  TRIGGER_LABELS,
  triggerKind,
  type TriggerKind,
  withDistance,
  withField,
} from './document.ts';
import { useFacts, useFault } from './facts.ts';
import { EventField, EventsField, SpanField, WhereField } from './fields.tsx';

const KINDS = Object.entries(TRIGGER_LABELS).map(([value, label]) => ({ value, label }));

type Props = { triggers: Piece[]; isList: boolean; onChange: (triggers: Piece[]) => void };

/** The triggers of a rule: any of these. */
export function TriggersField({ triggers, isList, onChange }: Props): ReactNode {
  const { readOnly } = useFacts();
  return (
    <Stack gap="sm">
      {triggers.map((trigger, at) => (
        <Trigger
          key={at}
          trigger={trigger}
          path={isList ? `when.${at}` : 'when'}
          onChange={(next) => onChange(triggers.with(at, next))}
          {...(triggers.length > 1 ? { onRemove: () => onChange(triggers.toSpliced(at, 1)) } : {})}
        />
      ))}
      <Button
        variant="subtle"
        size="compact-sm"
        leftSection={<Plus size={14} aria-hidden="true" />}
        disabled={readOnly}
        onClick={() => onChange([...triggers, newTrigger('event')])}
        w="fit-content"
      >
        Add another trigger
      </Button>
    </Stack>
  );
}

type TriggerProps = {
  trigger: Piece;
  path: string;
  onChange: (trigger: Piece) => void;
  onRemove?: () => void;
};

function Trigger(props: TriggerProps): ReactNode {
  const { trigger, onChange, onRemove } = props;
  const { readOnly } = useFacts();
  const kind = triggerKind(trigger);
  return (
    <Paper withBorder p="sm">
      <Stack gap="sm">
        <Group gap="sm" justify="space-between" wrap="nowrap" align="end">
          <Select
            label="When"
            data={KINDS}
            value={kind}
            placeholder="Written in JSON"
            allowDeselect={false}
            disabled={readOnly}
            onChange={(next) => onChange(newTrigger((next ?? 'event') as TriggerKind, eventOf(trigger)))}
            w={{ base: '100%', sm: 320 }}
          />
          {onRemove && (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label="Remove trigger"
              onClick={onRemove}
              disabled={readOnly}
            >
              <Trash2 size={16} aria-hidden="true" />
            </ActionIcon>
          )}
        </Group>
        {kind === null ? <OnlyJson /> : <Parts {...props} kind={kind} />}
      </Stack>
    </Paper>
  );
}

function OnlyJson(): ReactNode {
  return (
    <Text size="sm" c="dimmed">
      The form does not support this trigger. Edit it as JSON.
    </Text>
  );
}

function Parts(props: TriggerProps & { kind: TriggerKind }): ReactNode {
  switch (props.kind) {
    case 'event':
      return <EventParts {...props} />;
    case 'audience':
      return <AudienceParts {...props} />;
    case 'relative':
      return <RelativeParts {...props} />;
    case 'date':
      return <DateParts {...props} />;
    case 'absence':
      return <AbsenceParts {...props} />;
    default:
      return props.kind satisfies never;
  }
}

function EventParts({ trigger, path, onChange }: TriggerProps): ReactNode {
  const event = textOf(trigger['event']);
  return (
    <>
      <EventField
        label="Event"
        value={event}
        onChange={(next) => onChange({ ...trigger, event: next })}
        path={`${path}.event`}
      />
      <WhereField
        value={trigger['where']}
        onChange={(where) => onChange(withField(trigger, 'where', where))}
        path={`${path}.where`}
        event={event}
      />
    </>
  );
}

function AudienceParts({ trigger, path, onChange }: TriggerProps): ReactNode {
  const { audiences, readOnly } = useFacts();
  return (
    <Group gap="sm" align="end">
      <Select
        label="Audience"
        data={audiences.map(({ id, name }) => ({ value: id, label: name }))}
        value={textOf(trigger['audience']) || null}
        onChange={(audience) => onChange({ ...trigger, audience: audience ?? '' })}
        error={useFault(`${path}.audience`)}
        searchable
        disabled={readOnly}
        nothingFoundMessage="No audiences match"
        w={{ base: '100%', sm: 260 }}
      />
      <Select
        label="A user"
        data={[
          { value: 'joined', label: 'joins it' },
          { value: 'left', label: 'leaves it' },
        ]}
        value={textOf(trigger['move']) || 'joined'}
        allowDeselect={false}
        onChange={(move) => onChange({ ...trigger, move })}
        disabled={readOnly}
        w={140}
      />
    </Group>
  );
}

function Distance({ trigger, path, onChange }: TriggerProps): ReactNode {
  const { readOnly } = useFacts();
  const { side, span } = distanceOf(trigger);
  return (
    <Group gap="sm" align="end">
      <SpanField
        label="Time span"
        value={span}
        onChange={(next) => onChange(withDistance(trigger, side, next))}
        path={`${path}.${side}`}
      />
      <Select
        label="Before or after"
        data={['before', 'after']}
        value={side}
        allowDeselect={false}
        onChange={(next) => onChange(withDistance(trigger, next === 'before' ? 'before' : 'after', span))}
        disabled={readOnly}
        w={120}
      />
    </Group>
  );
}

function RelativeParts(props: TriggerProps): ReactNode {
  const { trigger, path, onChange } = props;
  const { readOnly } = useFacts();
  const to = pieceOf(trigger['relative_to']);
  const set = (next: Piece): void => onChange({ ...trigger, relative_to: next });
  const event = textOf(to['event']);
  const at = `${path}.relative_to`;
  return (
    <>
      <Distance {...props} />
      <EventField
        label="Event"
        value={event}
        onChange={(next) => set({ ...to, event: next })}
        path={`${at}.event`}
      />
      <TextInput
        label="Duration in days"
        description="A property with the number of days, such as trialDays. Empty: counted from the event itself."
        value={textOf(to['plus_days'])}
        onChange={({ currentTarget: { value } }) => set(withField(to, 'plus_days', value))}
        error={useFault(`${at}.plus_days`)}
        disabled={readOnly}
        maw={320}
      />
      <WhereField
        value={to['where']}
        onChange={(where) => set(withField(to, 'where', where))}
        path={`${at}.where`}
        event={event}
      />
    </>
  );
}

function DateParts(props: TriggerProps): ReactNode {
  const { trigger, path, onChange } = props;
  const { traits, readOnly } = useFacts();
  const to = pieceOf(trigger['relative_to']);
  return (
    <>
      <Distance {...props} />
      <Select
        label="Trait with the date"
        data={[...new Set([...traits.map(({ trait }) => trait), textOf(to['trait'])])].filter(Boolean)}
        value={textOf(to['trait']) || null}
        onChange={(trait) => onChange({ ...trigger, relative_to: { trait: trait ?? '' } })}
        error={useFault(`${path}.relative_to`)}
        searchable
        disabled={readOnly}
        maw={260}
      />
    </>
  );
}

function AbsenceParts({ trigger, path, onChange }: TriggerProps): ReactNode {
  const since = pieceOf(trigger['since']);
  const event = textOf(since['event']);
  return (
    <>
      <EventField
        label="After"
        value={event}
        onChange={(next) => onChange({ ...trigger, since: { ...since, event: next } })}
        path={`${path}.since`}
      />
      <WhereField
        value={since['where']}
        onChange={(where) => onChange({ ...trigger, since: withField(since, 'where', where) })}
        path={`${path}.since.where`}
        event={event}
      />
      <EventsField
        label="None of these events happens"
        value={textsOf(trigger['absence_of'])}
        onChange={(names) => onChange({ ...trigger, absence_of: names })}
        path={`${path}.absence_of`}
      />
      <SpanField
        label="For"
        value={textOf(trigger['for'])}
        onChange={(next) => onChange({ ...trigger, for: next })}
        path={`${path}.for`}
      />
    </>
  );
}
