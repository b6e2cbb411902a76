import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import type { DraftListed } from '@beckon/contract/dashboard';
import { CalendarClock, SkipForward } from 'lucide-react';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import {
  DialogFoot,
  formatTime,
  type KeyMap,
  Shortcut,
  useKeys,
  useNow,
  useProjectZone,
} from '../../parts/index.ts';
import { instantOf, localOf } from '../../parts/zoned.ts';
import { firstClick } from './first-click.ts';
import { judge, type Preset, presetsOf } from './presets.ts';

type Times = Pick<DraftListed, 'deadline_at' | 'expires_at' | 'ends_at' | 'state' | 'resume_state'>;

export type PostponeDialogProps = {
  opened: boolean;
  onClose: () => void;
  /** The times of one draft; absent for several, because each is checked separately. */
  times: Times;
  /** The time zone of the presets. */
  zone: string;
  title: string;
  onPick: (at: number, extend: boolean) => void;
};

type ReviewDialogProps = { opened: boolean; onClose: () => void; title: string; children: ReactNode };

function ReviewDialog(props: ReviewDialogProps): ReactNode {
  return <Modal {...props} size="sm" onClickCapture={firstClick} />;
}

/** A decision closes its dialog. A closed dialog stays mounted for a moment and must not decide again. */
function decides(
  { opened, onClose }: Pick<ReviewDialogProps, 'opened' | 'onClose'>,
  decide: () => void,
): void {
  if (!opened) return;
  decide();
  onClose();
}

/** Selects the new time: a preset or an exact time. */
export function PostponeDialog(props: PostponeDialogProps): ReactNode {
  return (
    <ReviewDialog opened={props.opened} onClose={props.onClose} title={props.title}>
      <PostponeForm {...props} />
    </ReviewDialog>
  );
}

const HOUR_MS = 3_600_000;

function PostponeForm(props: PostponeDialogProps): ReactNode {
  const { times, zone } = props;
  const projectZone = useProjectZone();
  const now = useNow();
  const presets = presetsOf(times, { now, zone });
  const first = presets.findIndex(({ fault }) => fault === null);
  const pick = (at: number, extend: boolean): void => decides(props, () => props.onPick(at, extend));
  const keys: KeyMap = Object.fromEntries(
    presets.map(({ label, at, extends: extend, fault }, index) => [
      String(index + 1),
      { label, run: () => fault === null && pick(at, extend) },
    ]),
  );
  useKeys('Postpone', keys, { inDialog: true });
  return (
    <Stack gap="xs">
      {presets.map((preset, index) => (
        <PresetButton
          key={preset.label}
          preset={preset}
          index={index}
          isFirst={index === first}
          zones={{ project: projectZone, theirs: zone }}
          onPick={() => pick(preset.at, preset.extends)}
        />
      ))}
      <Exactly times={times} zone={zone} now={now} onPick={pick} />
    </Stack>
  );
}

type PresetButtonProps = {
  preset: Preset;
  index: number;
  isFirst: boolean;
  zones: { project: string; theirs: string };
  onPick: () => void;
};

function PresetButton({ preset, index, isFirst, zones, onPick }: PresetButtonProps): ReactNode {
  const { label, at, fault, extends: extend } = preset;
  const { project, theirs } = zones;
  const when = formatTime(new Date(at), theirs);
  const here = theirs === project ? '' : `, ${formatTime(new Date(at), project)} project time`;
  return (
    <Button
      variant="default"
      justify="space-between"
      h="auto"
      py={8}
      styles={{ label: { whiteSpace: 'normal', textAlign: 'left' } }}
      disabled={fault !== null}
      onClick={onPick}
      rightSection={<Shortcut keys={String(index + 1)} />}
      {...(isFirst ? { 'data-autofocus': true } : {})}
    >
      <Stack gap={0} align="start">
        <span>{label}</span>
        <Text size="xs" c="dimmed" fw={400}>
          {fault ?? `${when} recipient’s time${here}${extend ? ' · extends the expiry' : ''}`}
        </Text>
      </Stack>
    </Button>
  );
}

type ExactlyProps = {
  times: Times;
  zone: string;
  now: number;
  onPick: (at: number, extend: boolean) => void;
};

function Exactly({ times, zone, now, onPick }: ExactlyProps): ReactNode {
  const [typed, setTyped] = useState(() => {
    const { date, time } = localOf(now + 24 * HOUR_MS, zone);
    return `${date}T${time}`;
  });
  const [date = '', time = ''] = typed.split('T');
  const at = instantOf({ date, time }, zone);
  const judged = at === null ? { extends: false, fault: 'Enter a valid time' } : judge(times, at, now);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (at !== null && judged.fault === null) onPick(at, judged.extends);
  };
  return (
    <form onSubmit={submit}>
      <Group align="end" gap="xs" wrap="nowrap">
        <TextInput
          type="datetime-local"
          label={`Exact time (${zone})`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          error={judged.fault}
          style={{ flex: 1 }}
        />
        <Button
          type="submit"
          variant="default"
          disabled={judged.fault !== null}
          leftSection={<CalendarClock size={15} aria-hidden="true" />}
        >
          Postpone
        </Button>
      </Group>
    </form>
  );
}

const REASONS = ['Wrong recipient', 'Wrong time', 'Wrong content', 'Already in contact'];

type SkipDialogProps = Omit<ReviewDialogProps, 'children'> & { onSkip: (reason: string) => void };

/** Asks for an optional reason, for members who review the rule later. */
export function SkipDialog({ onSkip, ...dialogProps }: SkipDialogProps): ReactNode {
  return (
    <ReviewDialog {...dialogProps}>
      <SkipForm onSkip={(reason) => decides(dialogProps, () => onSkip(reason))} />
    </ReviewDialog>
  );
}

function SkipForm({ onSkip }: { onSkip: (reason: string) => void }): ReactNode {
  const [reason, setReason] = useState('');
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    onSkip(reason);
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          data-autofocus
          label="Reason (optional)"
          value={reason}
          maxLength={500}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <Group gap={6}>
          {REASONS.map((preset) => (
            <Button key={preset} size="compact-xs" variant="default" onClick={() => setReason(preset)}>
              {preset}
            </Button>
          ))}
        </Group>
        <Group justify="flex-end">
          <Button type="submit" leftSection={<SkipForward size={15} aria-hidden="true" />}>
            Skip
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

type SendAnywayDialogProps = Omit<ReviewDialogProps, 'children' | 'title'> & { onApprove: () => void };

/** Confirms sending although the rule's condition is no longer met. */
export function SendAnywayDialog({ onApprove, ...dialogProps }: SendAnywayDialogProps): ReactNode {
  return (
    <ReviewDialog {...dialogProps} title="Send it anyway?">
      <Stack gap="md">
        <Text size="sm">
          The rule’s condition is no longer met for this user. Send checks still apply: a suppression, quiet
          hours or a frequency cap can hold the email. The history of the draft records your decision.
        </Text>
        <DialogFoot onCancel={dialogProps.onClose}>
          <Button data-autofocus onClick={() => decides(dialogProps, onApprove)}>
            Approve anyway
          </Button>
        </DialogFoot>
      </Stack>
    </ReviewDialog>
  );
}
