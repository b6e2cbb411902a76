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
  useZone,
} from '../../parts/index.ts';
import { instantOf, localOf } from '../../parts/zoned.ts';
import { judge, type Preset, presetsOf } from './presets.ts';

type Times = Pick<DraftListed, 'deadline_at' | 'expires_at' | 'ends_at' | 'state' | 'resume_state'>;

export type PostponeDialogProps = {
  opened: boolean;
  onClose: () => void;
  /** Of one letter; of many nothing is known beforehand, and each is judged by itself. */
  times: Times;
  /** On whose clock nine in the morning is. */
  zone: string;
  title: string;
  onPick: (at: number, extend: boolean) => void;
};

/** When it is to leave instead: by a name, or to the minute. */
export function PostponeDialog(props: PostponeDialogProps): ReactNode {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.title} size="sm">
      <PostponeForm {...props} />
    </Modal>
  );
}

const HOUR_MS = 3_600_000;

function PostponeForm({ onClose, times, zone, onPick }: PostponeDialogProps): ReactNode {
  const own = useZone();
  const now = useNow();
  const presets = presetsOf(times, { now, zone });
  const first = presets.findIndex(({ fault }) => fault === null);
  const pick = (at: number, extend: boolean): void => {
    onPick(at, extend);
    onClose();
  };
  const keys: KeyMap = Object.fromEntries(
    presets.map(({ label, at, extends: extend, fault }, index) => [
      String(index + 1),
      { label, run: () => fault === null && pick(at, extend) },
    ]),
  );
  useKeys('Put off', keys, { inDialog: true });
  return (
    <Stack gap="xs">
      {presets.map((preset, index) => (
        <PresetButton
          key={preset.label}
          preset={preset}
          index={index}
          isFirst={index === first}
          zones={{ own, theirs: zone }}
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
  zones: { own: string; theirs: string };
  onPick: () => void;
};

function PresetButton({ preset, index, isFirst, zones, onPick }: PresetButtonProps): ReactNode {
  const { label, at, fault, extends: extend } = preset;
  const { own, theirs } = zones;
  const when = formatTime(new Date(at), theirs);
  const here = theirs === own ? '' : `, ${formatTime(new Date(at), own)} here`;
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
          {fault ?? `${when} there${here}${extend ? ' · beyond its expiry, on purpose' : ''}`}
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
  const judged = at === null ? { extends: false, fault: 'This is no time' } : judge(times, at, now);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (at !== null && judged.fault === null) onPick(at, judged.extends);
  };
  return (
    <form onSubmit={submit}>
      <Group align="end" gap="xs" wrap="nowrap">
        <TextInput
          type="datetime-local"
          label={`To the minute, in ${zone}`}
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
          Put off
        </Button>
      </Group>
    </form>
  );
}

const REASONS = ['Not them', 'Not now', 'Not these words', 'We have talked already'];

/** Why not, for those who look at the rule later; a reason is no duty. */
export function SkipDialog({
  opened,
  onClose,
  title,
  onSkip,
}: {
  opened: boolean;
  onClose: () => void;
  title: string;
  onSkip: (reason: string) => void;
}): ReactNode {
  return (
    <Modal opened={opened} onClose={onClose} title={title} size="sm">
      <SkipForm
        onSkip={(reason) => {
          onSkip(reason);
          onClose();
        }}
      />
    </Modal>
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
          label="Why, if you like"
          value={reason}
          maxLength={500}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <Group gap={6}>
          {REASONS.map((one) => (
            <Button key={one} size="compact-xs" variant="default" onClick={() => setReason(one)}>
              {one}
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

/** The condition of its rule does not hold any more: that has to be wanted. */
export function AnywayDialog({
  opened,
  onClose,
  onApprove,
}: {
  opened: boolean;
  onClose: () => void;
  onApprove: () => void;
}): ReactNode {
  return (
    <Modal opened={opened} onClose={onClose} title="Send it anyway?" size="sm">
      <Stack gap="md">
        <Text size="sm">
          The condition of its rule does not hold for this person any more. It passes no gate by being sent
          anyway: suppressions, quiet hours and caps hold it as they hold others. That you wanted it is
          recorded.
        </Text>
        <DialogFoot onCancel={onClose}>
          <Button
            data-autofocus
            onClick={() => {
              onApprove();
              onClose();
            }}
          >
            Approve anyway
          </Button>
        </DialogFoot>
      </Stack>
    </Modal>
  );
}
