import {
  ActionIcon,
  Button,
  Group,
  Input,
  NumberInput,
  Select,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core';
import { Plus, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import {
  type Cap,
  printCaps,
  printQuiet,
  printThrottle,
  readCaps,
  readQuiet,
  readThrottle,
  type Throttle,
} from './policy-text.ts';

/** A setting in its text form; `fault`: the server's error. */
export type SettingField = {
  text: string;
  onText: (text: string) => void;
  fault?: string | undefined;
  disabled?: boolean;
};

const QUIET_START = { start: '21:00', end: '08:00' };

export function QuietHoursField({ text, onText, fault, disabled = false }: SettingField): ReactNode {
  const quiet = readQuiet(text);
  const part = (name: 'start' | 'end', label: string): ReactNode => (
    <TextInput
      type="time"
      label={label}
      w={130}
      disabled={disabled}
      value={quiet?.[name] ?? ''}
      onChange={({ currentTarget: { value } }) => {
        if (quiet && value !== '') onText(printQuiet({ ...quiet, [name]: value.slice(0, 5) }));
      }}
    />
  );
  return (
    <Input.Wrapper error={fault}>
      <Group gap="sm" align="end" mb={4}>
        <Switch
          label="Use quiet hours"
          checked={quiet !== null}
          disabled={disabled}
          onChange={({ currentTarget: { checked } }) => onText(printQuiet(checked ? QUIET_START : null))}
          mb={8}
        />
        {quiet && part('start', 'Quiet from')}
        {quiet && part('end', 'Quiet until')}
      </Group>
    </Input.Wrapper>
  );
}

const CAP_UNITS = [
  { value: 'm', label: 'minutes' },
  { value: 'h', label: 'hours' },
  { value: 'd', label: 'days' },
];
const CAPS_MAX = 5;

export function CapsField({ text, onText, fault, disabled = false }: SettingField): ReactNode {
  const caps = readCaps(text);
  const change = (at: number, to: Partial<Cap>): void =>
    onText(printCaps(caps.map((cap, n) => (n === at ? { ...cap, ...to } : cap))));
  return (
    <Input.Wrapper error={fault}>
      <Stack gap="xs" mb={4} align="start">
        {caps.map((cap, n) => (
          <Group key={n} gap="xs" wrap="wrap" role="group" aria-label={`Cap ${n + 1}`}>
            <span>At most</span>
            <Count
              label="emails"
              value={cap.emails}
              onValue={(value) => change(n, { emails: value })}
              disabled={disabled}
            />
            <span>in</span>
            <Count
              label="Period"
              value={cap.amount}
              onValue={(value) => change(n, { amount: value })}
              disabled={disabled}
            />
            <Select
              aria-label="Unit of the period"
              w={110}
              data={CAP_UNITS}
              value={cap.unit}
              allowDeselect={false}
              disabled={disabled}
              onChange={(value) => change(n, { unit: (value ?? 'h') as Cap['unit'] })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              disabled={disabled}
              aria-label={`Remove cap ${n + 1}`}
              onClick={() => onText(printCaps(caps.filter((_, other) => other !== n)))}
            >
              <Trash2 size={16} aria-hidden="true" />
            </ActionIcon>
          </Group>
        ))}
        {caps.length === 0 && <span>No cap: a user can get any number of emails.</span>}
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Plus size={14} aria-hidden="true" />}
          disabled={disabled || caps.length >= CAPS_MAX}
          onClick={() => onText(printCaps([...caps, newCap(caps)]))}
        >
          Add cap
        </Button>
      </Stack>
    </Input.Wrapper>
  );
}

/** Each period can be used once. */
function newCap(caps: Cap[]): Cap {
  const usedPeriods = new Set(caps.map(({ amount, unit }) => `${amount}${unit}`));
  const days = [1, 7, 30, 60, 90].find((amount) => !usedPeriods.has(`${amount}d`)) ?? 2;
  return { emails: days === 1 ? 1 : 3, amount: days, unit: 'd' };
}

const THROTTLE_UNITS = [
  { value: 's', label: 'a second' },
  { value: 'm', label: 'a minute' },
  { value: 'h', label: 'an hour' },
];

export function ThrottleField({ text, onText, fault, disabled = false }: SettingField): ReactNode {
  const throttle = readThrottle(text);
  const change = (to: Partial<Throttle>): void => {
    if (throttle) onText(printThrottle({ ...throttle, ...to }));
  };
  return (
    <Input.Wrapper error={fault}>
      <Group gap="sm" mb={4}>
        <Switch
          label="Limit the sending rate"
          checked={throttle !== null}
          disabled={disabled}
          onChange={({ currentTarget: { checked } }) =>
            onText(printThrottle(checked ? { emails: 10, per: 's' } : null))
          }
        />
        {throttle && (
          <Group gap="xs">
            <Count
              label="emails"
              value={throttle.emails}
              onValue={(emails) => change({ emails })}
              disabled={disabled}
            />
            <Select
              aria-label="Period of the throttle"
              w={130}
              data={THROTTLE_UNITS}
              value={throttle.per}
              allowDeselect={false}
              disabled={disabled}
              onChange={(value) => change({ per: (value ?? 's') as Throttle['per'] })}
            />
          </Group>
        )}
      </Group>
    </Input.Wrapper>
  );
}

type CountProps = { label: string; value: number; onValue: (value: number) => void; disabled: boolean };

function Count({ label, value, onValue, disabled }: CountProps): ReactNode {
  return (
    <NumberInput
      aria-label={label}
      w={90}
      min={1}
      max={9_999}
      allowDecimal={false}
      allowNegative={false}
      value={value}
      disabled={disabled}
      onChange={(typed) => {
        if (typeof typed === 'number' && typed >= 1) onValue(typed);
      }}
    />
  );
}
