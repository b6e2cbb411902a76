import { Button, Checkbox, Group, Modal, Text, TextInput } from '@mantine/core';
import { CalendarClock } from 'lucide-react';
import type { ScheduledDraft } from '@beckon/contract/dashboard';
import { type ReactNode, useState } from 'react';
import { DialogFoot, formatTime, useNow, useProjectZone, useZone, When } from '../../parts/index.ts';
import type { PostponeArgs } from './use-postpone.ts';
import { instantOf, localOf, tomorrowAtNine } from '../../parts/zoned.ts';
import { Form } from '../../parts/form.tsx';
import { textProps, tickProps } from '../../parts/bind.ts';
import { ActButton } from '../../parts/act-button.tsx';

/** A draft to postpone; `to`: the hour that it was dropped onto, if it needs confirmation. */
export type ToPostpone = { draft: ScheduledDraft; to?: string };

type Props = ToPostpone & {
  onClose: () => void;
  postpone: (what: PostponeArgs) => void;
};

/** The keyboard alternative to dragging a draft, with any time. */
export function PostponeDialog({
  target,
  ...props
}: Omit<Props, keyof ToPostpone> & { target: ToPostpone | null }): ReactNode {
  return (
    <Modal
      opened={target !== null}
      onClose={props.onClose}

      title="Postpone draft"
    >
      {target && <PostponeForm {...target} {...props} />}
    </Modal>
  );
}

const HOUR_MS = 3_600_000;

function PostponeForm({ draft, to, onClose, postpone }: Props): ReactNode {
  const zone = useZone();
  const projectZone = useProjectZone();
  const now = useNow();
  const soon = Math.max(Date.parse(draft.deadline_at), now) + HOUR_MS;
  const start = localOf(to === undefined ? soon : Date.parse(to), zone);
  const [typed, setTyped] = useState(`${start.date}T${start.time}`);
  const [extend, setExtend] = useState(false);
  const result = readTyped(typed, { zone, now, expiresAt: draft.expires_at });
  const fault = result.fault ?? (result.isBeyond && !extend ? 'The draft expires before this time' : null);
  const go = (until: number): void => {
    postpone({ draft, until: new Date(until).toISOString(), extend });
    onClose();
  };
  const submit = (): void => {
    if (fault === null) go(result.at);
  };
  return (
    <Form onSubmit={submit}>
      <Text size="sm">
        “{draft.subject}” to {draft.email ?? draft.external_user_id} is due <When at={draft.deadline_at} />.
      </Text>
      <Presets zone={draft.zone ?? projectZone} now={now} onPick={go} />
      <TextInput
        data-autofocus
        type="datetime-local"
        label={`Send at (${zone})`}
        {...textProps(typed, setTyped)}
        error={fault}
      />
      {result.isBeyond && (
        <Checkbox
          label="Send after its expiry"
          description={`Otherwise it expires at ${formatTime(draft.expires_at ?? '', zone)}.`}
          {...tickProps(extend, setExtend)}
        />
      )}
      <DialogFoot onCancel={onClose}>
        <Button
          type="submit"
          leftSection={<CalendarClock size={15} aria-hidden="true" />}
          disabled={fault !== null}
        >
          Postpone
        </Button>
      </DialogFoot>
    </Form>
  );
}

type Read = { at: number; fault: string | null; isBeyond: boolean };

function readTyped(
  typed: string,
  { zone, now, expiresAt }: { zone: string; now: number; expiresAt: string | null },
): Read {
  const [date = '', time = ''] = typed.split('T');
  const at = instantOf({ date, time }, zone);
  if (at === null) return { at: now, fault: 'Enter a valid time', isBeyond: false };
  if (at <= now) return { at, fault: 'This time has passed', isBeyond: false };
  return { at, fault: null, isBeyond: expiresAt !== null && at > Date.parse(expiresAt) };
}

type PresetsProps = { zone: string; now: number; onPick: (at: number) => void };

function Presets({ zone, now, onPick }: PresetsProps): ReactNode {
  return (
    <Group gap="xs">
      <Preset label="In an hour" at={now + HOUR_MS} onPick={onPick} />
      <Preset label="In four hours" at={now + 4 * HOUR_MS} onPick={onPick} />
      <Preset label={`Tomorrow at nine in ${zone}`} at={tomorrowAtNine(now, zone)} onPick={onPick} />
    </Group>
  );
}

function Preset({
  label,
  at,
  onPick,
}: {
  label: string;
  at: number;
  onPick: (at: number) => void;
}): ReactNode {
  return (
    <ActButton size="compact-sm" onClick={() => onPick(at)}>
      {label}
    </ActButton>
  );
}
