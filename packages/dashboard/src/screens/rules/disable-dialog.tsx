import { Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { RuleSwitchPreview } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Bullets } from '../../parts/bullets.tsx';
import { DialogFoot, ErrorBox, Lines, Loaded } from '../../parts/index.ts';
import type { SwitchProps } from './switch-rule.tsx';
import { useSwitch } from './use-switch.ts';

/** Shows the effect on drafts and runs before a rule is disabled. */
export function DisableDialog({ rule, opened, onClose }: SwitchProps): ReactNode {
  return (
    <Modal opened={opened} onClose={onClose} title={`Disable ${rule.name}?`}>
      <DisableForm rule={rule} onClose={onClose} />
    </Modal>
  );
}

function DisableForm({ rule, onClose }: Omit<SwitchProps, 'opened'>): ReactNode {
  const params = { rule: rule.id };
  const preview = useApi('GET /projects/:project/rules/:rule/switch', { params });
  const change = useSwitch(rule, onClose);
  return (
    <Stack gap="md">
      <Text size="sm">
        The rule enrolls no users until you enable it again. A running enrollment of members is canceled.
      </Text>
      <Loaded query={preview} skeleton={<Lines count={3} />}>
        {({ data }) => <Bullets spacing={4} items={effects(data)} />}
      </Loaded>
      {change.error && <ErrorBox error={change.error} title="The rule was not disabled" />}
      <DialogFoot onCancel={onClose} focusesCancel>
        <ActButton
          change={change}
          variant="filled"
          disabled={preview.data === undefined}
          onClick={() => change.mutate({ params, body: { on: false } })}
        >
          Disable
        </ActButton>
      </DialogFoot>
    </Stack>
  );
}

function effects({ open, drafts, others, sending, runs }: RuleSwitchPreview): string[] {
  return [
    open === 0 ? 'The rule has no open drafts.' : `${drafts} of its ${open} open drafts are held.`,
    ...(others > 0 ? [`${others} drafts wait for something else and keep waiting.`] : []),
    ...(sending > 0 ? [`${sending} emails are being sent right now and cannot be recalled.`] : []),
    runs === 0 ? 'No user is in a run of this rule.' : `${runs} runs are paused.`,
  ];
}
