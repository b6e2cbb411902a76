import { Button, Group, List, Modal, Stack, Switch, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { RuleListed, RuleSwitchPreview } from '@beckon/contract/dashboard';
import { useApi, useChange } from '../../api/index.ts';
import { ErrorBox, Lines, Loaded, told } from '../../parts/index.ts';

type Props = { rule: Pick<RuleListed, 'id' | 'name' | 'on'>; opened: boolean; onClose: () => void };

/** What happens to the drafts and to the people inside, before a rule is switched. */
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
  const preview = useApi('GET /projects/:project/rules/:rule/switch', { params: { rule: rule.id } });
  const change = useChange('POST /projects/:project/rules/:rule/switch', {
    refreshes: [
      'GET /projects/:project/rules',
      'GET /projects/:project/rules/:rule',
      'GET /projects/:project/rules/:rule/switch',
      'GET /projects/:project/sequences',
    ],
    onDone: ({ data }) => {
      told(data.rule.on ? `${rule.name} is on` : `${rule.name} is off`);
      onClose();
    },
  });
  const needsWord = (preview.data?.data.long_held ?? 0) > 0;
  return (
    <Stack gap="md">
      <Loaded query={preview} skeleton={<Lines count={3} />}>
        {({ data }) => <Effects preview={data} isOn={rule.on} />}
      </Loaded>
      {needsWord && (
        <Switch
          checked={confirmed}
          onChange={({ currentTarget }) => setConfirmed(currentTarget.checked)}
          label={`Let go ${preview.data?.data.long_held} drafts that were held for more than a day`}
        />
      )}
      {change.error && <ErrorBox error={change.error} title="Not done" />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} data-autofocus>
          Cancel
        </Button>
        <Button
          disabled={preview.data === undefined || (needsWord && !confirmed)}
          loading={change.isPending}
          onClick={() => change.mutate({ params: { rule: rule.id }, body: { on: !rule.on, confirmed } })}
        >
          {rule.on ? 'Turn off' : 'Turn on'}
        </Button>
      </Group>
    </Stack>
  );
}

function Effects({ preview, isOn }: { preview: RuleSwitchPreview; isOn: boolean }): ReactNode {
  const lines = isOn ? offLines(preview) : onLines(preview);
  return (
    <>
      <Text size="sm">
        {isOn
          ? 'Nobody is considered by it any more, until it is turned on again.'
          : 'It hears of what is accepted from now on, and of nothing from the time when it was off.'}
      </Text>
      <List size="sm" spacing={4}>
        {lines.map((line) => (
          <List.Item key={line}>{line}</List.Item>
        ))}
      </List>
    </>
  );
}

function offLines({ open, drafts, others, sending, runs }: RuleSwitchPreview): string[] {
  return [
    open === 0
      ? 'It has no open drafts.'
      : `Of its ${open} open drafts ${drafts} stand still where they are.`,
    ...(others > 0 ? [`${others} wait for something else, and go on waiting for it.`] : []),
    ...(sending > 0 ? [`${sending} are being sent right now and cannot be called back.`] : []),
    runs === 0 ? 'Nobody is under way in it.' : `${runs} people under way stand still.`,
  ];
}

function onLines({ drafts, others, runs }: RuleSwitchPreview): string[] {
  return [
    drafts === 0
      ? 'No draft was held for it.'
      : `${drafts} drafts go on, with a quarter of an hour before them at least, and spread.`,
    ...(others > 0 ? [`${others} have expired meanwhile and are cancelled.`] : []),
    runs === 0 ? 'Nobody stands still in it.' : `${runs} people go on.`,
  ];
}
