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

/** Whether untouched drafts leave by themselves, and after how long. */
export function AutopilotField({ text, onText, fault, disabled = false }: SettingField): ReactNode {
  const span = readSpan(text);
  const change = (to: Partial<Span>): void => {
    if (span) onText(`${to.amount ?? span.amount}${to.unit ?? span.unit}`);
  };
  return (
    <Input.Wrapper error={fault}>
      <Radio.Group
        aria-label="When a draft leaves"
        value={text === DRAFT ? DRAFT : 'time'}
        onChange={(value) => onText(value === DRAFT ? DRAFT : FIRST)}
      >
        <Stack gap="sm" mb={4}>
          <Radio
            value="time"
            disabled={disabled}
            label="By itself, if nobody touches it for a while"
            description="You can read, edit, approve or skip it until then. Rules may say another time, or ask for a person."
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
              <span>after it was drafted</span>
            </Group>
          )}
          <Radio
            value={DRAFT}
            disabled={disabled}
            label="Only when a person approves it"
            description="For every rule of this project, and at once for drafts that nobody has touched yet."
          />
        </Stack>
      </Radio.Group>
    </Input.Wrapper>
  );
}
