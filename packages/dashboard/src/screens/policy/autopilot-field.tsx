import { Group, Input, NumberInput, Radio, Select, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { SettingField } from '../../parts/policy-fields.tsx';
import { readSpan, type Span } from '../../parts/policy-text.ts';

const DRAFT = 'draft';
const FIRST = '2h';
const UNITS = [
  { value: 'm', label: 'minutes' },
  { value: 'h', label: 'hours' },
  { value: 'd', label: 'days' },
];

/** Turns automatic sending on or off, and sets its delay. */
export function AutopilotField({ text, onText, fault, disabled = false }: SettingField): ReactNode {
  const span = readSpan(text);
  const change = (to: Partial<Span>): void => {
    if (span) onText(`${to.amount ?? span.amount}${to.unit ?? span.unit}`);
  };
  return (
    <Input.Wrapper error={fault}>
      <Radio.Group
        aria-label="Sending of drafts"
        value={text === DRAFT ? DRAFT : 'time'}
        onChange={(value) => onText(value === DRAFT ? DRAFT : FIRST)}
      >
        <Stack gap="sm" mb={4}>
          <Radio
            value="time"
            disabled={disabled}
            label="Autopilot: send at the deadline unless a member acts"
            description="Members can review, edit, approve or skip a draft until then. A rule can set another time or require approval."
          />
          {span && (
            <Group gap="xs" ml={28}>
              <NumberInput
                aria-label="Length of time"
                w={90}
                min={1}
                allowDecimal={false}
                value={span.amount}
                disabled={disabled}
                onChange={(typed) => {
                  if (typeof typed === 'number' && typed >= 1) change({ amount: typed });
                }}
              />
              <Select
                aria-label="Unit of time"
                w={120}
                data={UNITS}
                allowDeselect={false}
                value={span.unit}
                disabled={disabled}
                onChange={(unit) => change({ unit: (unit ?? 'h') as Span['unit'] })}
              />
              <span>after drafting</span>
            </Group>
          )}
          <Radio
            value={DRAFT}
            disabled={disabled}
            label="Only after approval by a member"
            description="Applies to all rules of this project, and immediately to drafts without an action of a member."
          />
        </Stack>
      </Radio.Group>
    </Input.Wrapper>
  );
}
