import { Group, Input, Radio, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { CAP_UNITS, Count, type SettingField, Unit } from '../../parts/policy-fields.tsx';
import { readSpan, type Span } from '../../parts/policy-text.ts';

const DRAFT = 'draft';
const FIRST = '2h';

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
              <Count
                label="Length of time"
                value={span.amount}
                onValue={(amount) => change({ amount })}
                disabled={disabled}
              />
              <Unit
                label="Unit of time"
                units={CAP_UNITS}
                value={span.unit as keyof typeof CAP_UNITS}
                onValue={(unit) => change({ unit })}
                disabled={disabled}
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
