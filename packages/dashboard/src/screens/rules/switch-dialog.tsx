import { Modal, Stack, Switch, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { RuleEnrollmentPreview, RuleListed, RuleSwitchPreview } from '@beckon/contract/dashboard';
import { useApi, useChange } from '../../api/index.ts';
import { DialogFoot, ErrorBox, Lines, Loaded, notify } from '../../parts/index.ts';
import { EnrollmentPreview } from './enrollment-preview.tsx';
import { audienceWords, canEnroll, previewWords, users } from './enrollment-words.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Bullets } from '../../parts/bullets.tsx';
import { tickProps } from '../../parts/bind.ts';

type Props = { rule: Pick<RuleListed, 'id' | 'name' | 'on'>; opened: boolean; onClose: () => void };

/** Shows the effect on drafts, runs and audience members before a rule is turned on or off. */
export function SwitchDialog({ rule, opened, onClose }: Props): ReactNode {
  const title = rule.on ? `Turn off ${rule.name}?` : `Turn on ${rule.name}?`;
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      <SwitchForm rule={rule} onClose={onClose} />
    </Modal>
  );
}

function SwitchForm({ rule, onClose }: Omit<Props, 'opened'>): ReactNode {
  const [confirmed, setConfirmed] = useState(false);
  const [enroll, setEnroll] = useState(false);
  const params = { rule: rule.id };
  const preview = useApi('GET /projects/:project/rules/:rule/switch', { params });
  const change = useSwitch(rule, onClose);
  const needsWord = (preview.data?.data.long_held ?? 0) > 0;
  return (
    <Stack gap="md">
      <Loaded query={preview} skeleton={<Lines count={3} />}>
        {({ data }) => <Effects preview={data} isOn={rule.on} />}
      </Loaded>
      {!rule.on && <Members rule={rule} enroll={enroll} onEnroll={setEnroll} />}
      {needsWord && (
        <Switch
          {...tickProps(confirmed, setConfirmed)}
          label={`Release ${preview.data?.data.long_held} drafts that were held for more than a day`}
        />
      )}
      {change.error && <ErrorBox error={change.error} title="The rule was not changed" />}
      <DialogFoot onCancel={onClose} focusesCancel>
        <ActButton
          change={change}
          variant="filled"
          disabled={preview.data === undefined || (needsWord && !confirmed)}
          onClick={() =>
            change.mutate({ params, body: { on: !rule.on, confirmed, enroll: enroll && !rule.on } })
          }
        >
          {rule.on ? 'Turn off' : 'Turn on'}
        </ActButton>
      </DialogFoot>
    </Stack>
  );
}

function useSwitch(rule: Props['rule'], onClose: () => void) {
  return useChange('POST /projects/:project/rules/:rule/switch', {
    refreshes: [
      'GET /projects/:project/rules',
      'GET /projects/:project/rules/:rule',
      'GET /projects/:project/rules/:rule/switch',
      'GET /projects/:project/rules/:rule/enrollment',
      'GET /projects/:project/sequences',
    ],
    onDone: ({ data }) => {
      const enrolls = data.enrollment ? `. Enrolling ${users(data.enrollment.members)}` : '';
      notify(`${rule.name} is ${data.rule.on ? 'on' : 'off'}${enrolls}`);
      onClose();
    },
  });
}

type MembersProps = { rule: Props['rule']; enroll: boolean; onEnroll: (enroll: boolean) => void };

/** Users who are in the audience already do not enter it: they are enrolled only if that is chosen. */
function Members({ rule, enroll, onEnroll }: MembersProps): ReactNode {
  const params = { rule: rule.id };
  const preview = useApi('GET /projects/:project/rules/:rule/enrollment', { params }, { staleTimeMs: 0 });
  const found = preview.data?.data;
  if (preview.error) return <ErrorBox error={preview.error} title="The members could not be counted" />;
  if (!found || found.audiences.length === 0) return null;
  if (!canEnroll(found)) return <Text size="sm">{previewWords(found)}</Text>;
  return (
    <Stack gap="xs">
      <Switch {...tickProps(enroll, onEnroll)} label={enrollLabel(found)} />
      {enroll && <EnrollmentPreview preview={found} />}
    </Stack>
  );
}

function enrollLabel(preview: RuleEnrollmentPreview): string {
  const { members } = preview;
  const users = members === 1 ? 'the 1 user who is' : `the ${members.toLocaleString('en-GB')} users who are`;
  return `Also enroll ${users} in ${audienceWords(preview)} now`;
}

function Effects({ preview, isOn }: { preview: RuleSwitchPreview; isOn: boolean }): ReactNode {
  const lines = isOn ? offLines(preview) : onLines(preview);
  return (
    <>
      <Text size="sm">
        {isOn
          ? 'The rule enrolls no users until you turn it on again. A running enrollment of members is canceled.'
          : 'The rule starts with what Beckon accepts from now on. Earlier events and joins do not start it.'}
      </Text>
      <Bullets spacing={4} items={lines} />
    </>
  );
}

function offLines({ open, drafts, others, sending, runs }: RuleSwitchPreview): string[] {
  return [
    open === 0 ? 'The rule has no open drafts.' : `${drafts} of its ${open} open drafts are held.`,
    ...(others > 0 ? [`${others} drafts wait for something else and keep waiting.`] : []),
    ...(sending > 0 ? [`${sending} emails are being sent right now and cannot be recalled.`] : []),
    runs === 0 ? 'No user is in a run of this rule.' : `${runs} runs are paused.`,
  ];
}

function onLines({ drafts, others, runs }: RuleSwitchPreview): string[] {
  return [
    drafts === 0
      ? 'No draft was held because the rule was off.'
      : `${drafts} held drafts continue. They are spread over time, and none is sent within 15 minutes.`,
    ...(others > 0 ? [`${others} drafts expired and are canceled.`] : []),
    runs === 0 ? 'No run was paused.' : `${runs} paused runs continue.`,
  ];
}
