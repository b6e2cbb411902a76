import { ActionIcon, Group, Input, NumberInput, Select, Stack, Switch, TextInput } from '@mantine/core';
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
import { ActButton } from './act-button.tsx';
import { choiceProps } from './bind.ts';

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

export const CAP_UNITS = { m: 'minutes', h: 'hours', d: 'days' };
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
            <Unit
              label="Unit of the period"
              units={CAP_UNITS}
              value={cap.unit}
              onValue={(unit) => change(n, { unit })}
              disabled={disabled}
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
        <ActButton
          icon={Plus}
          size="compact-sm"
          disabled={disabled || caps.length >= CAPS_MAX}
          onClick={() => onText(printCaps([...caps, newCap(caps)]))}
        >
          Add cap
        </ActButton>
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

const THROTTLE_UNITS = { s: 'a second', m: 'a minute', h: 'an hour' };

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
            <Unit
              label="Period of the throttle"
              units={THROTTLE_UNITS}
              value={throttle.per}
              onValue={(per) => change({ per })}
              disabled={disabled}
            />
          </Group>
        )}
      </Group>
    </Input.Wrapper>
  );
}

type CountProps = { label: string; value: number; onValue: (value: number) => void; disabled: boolean };

export function Count({ label, value, onValue, disabled }: CountProps): ReactNode {
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

type UnitProps<U extends string> = {
  label: string;
  units: Record<U, string>;
  value: U;
  onValue: (unit: U) => void;
  disabled: boolean;
};

export function Unit<U extends string>({ label, units, value, onValue, disabled }: UnitProps<U>): ReactNode {
  return (
    <Select
      aria-label={label}
      w={120}
      data={Object.entries<string>(units).map(([unit, text]) => ({ value: unit, label: text }))}
      disabled={disabled}
      {...choiceProps(value, (unit) => onValue(unit as U))}
    />
  );
}
