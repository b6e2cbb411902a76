import { Alert, Button, List, Modal, Stack, Switch, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { RuleChecked, RuleDocument, RuleDetails } from '@beckon/contract/dashboard';
import { type ReadKey, useChange } from '../../api/index.ts';
import { DialogFoot, ErrorBox, notify } from '../../parts/index.ts';
import { WordDiff } from '../../parts/word-diff.tsx';

export type SaveRequest = {
  rule: RuleDetails;
  document: RuleDocument;
  /** When the edited version was saved. */
  base: string;
  checked: RuleChecked;
  onClose: () => void;
  onSaved: (rule: RuleDetails) => void;
};

/** The effects of saving: the changed summary, open drafts and active runs. */
export function SaveDialog({
  saving,
  onClose,
}: {
  saving: SaveRequest | null;
  onClose: () => void;
}): ReactNode {
  return (
    <Modal opened={saving !== null} onClose={onClose} title="Save this rule?" size="lg">
      {saving && <SaveForm {...saving} />}
    </Modal>
  );
}

function SaveForm({ rule, document, base, checked, onClose, onSaved }: SaveRequest): ReactNode {
  const [includeOpen, setIncludeOpen] = useState(false);
  const change = modeChange(rule, document);
  const save = useChange('PUT /projects/:project/rules/:rule', {
    refreshes: REFRESHED,
    onDone: ({ data }) => {
      notify(data.drafts > 0 ? `Saved and applied to ${data.drafts} open drafts` : 'Saved');
      onSaved(data.rule);
    },
  });
  return (
    <Stack gap="md">
      {checked.new_version && (
        <>
          <Text size="sm">Summary of version {rule.version + 1}:</Text>
          <WordDiff before={checked.sentence_before ?? ''} after={checked.sentence ?? ''} label="Changes" />
        </>
      )}
      <Consequences rule={rule} checked={checked} change={change} />
      {change === 'autopilot' && checked.open_untouched > 0 && (
        <Switch
          checked={includeOpen}
          onChange={({ currentTarget }) => setIncludeOpen(currentTarget.checked)}
          label={`Set a deadline for the ${checked.open_untouched} open drafts too`}
          description="Otherwise they keep waiting for approval."
        />
      )}
      {save.error && <ErrorBox error={save.error} title="Not saved" />}
      {save.error?.status === 409 && (
        <Alert color="orange.9" title="Your changes are still here">
          See “Versions” for the other changes, or discard yours to continue from there.
        </Alert>
      )}
      <DialogFoot onCancel={onClose}>
        <Button
          data-autofocus
          loading={save.isPending}
          onClick={() =>
            save.mutate({
              params: { rule: rule.id },
              body: { document, updated_at: base, include_open: includeOpen },
            })
          }
        >
          Save
        </Button>
      </DialogFoot>
    </Stack>
  );
}

const REFRESHED: ReadKey[] = [
  'GET /projects/:project/rules',
  'GET /projects/:project/rules/:rule',
  'GET /projects/:project/rules/:rule/versions',
  'GET /projects/:project/rules/:rule/flow',
];

type ModeChange = 'autopilot' | 'draft' | 'none';

function modeChange(rule: RuleDetails, document: RuleDocument): ModeChange {
  const mode = document['mode'] === 'draft' ? 'draft' : 'autopilot';
  return mode === rule.mode ? 'none' : mode;
}

function Consequences({
  rule,
  checked,
  change,
}: Pick<SaveRequest, 'rule' | 'checked'> & { change: ModeChange }): ReactNode {
  const lines = [
    ...(checked.new_version && checked.under_way > 0
      ? [`${checked.under_way} active runs continue in the version in which they started.`]
      : []),
    ...(checked.new_version && rule.enrollment?.state === 'running'
      ? ['The running enrollment of members is canceled.']
      : []),
    ...(checked.new_version ? [] : [`Equal to version ${rule.version}: no new version is created.`]),
    ...(change === 'draft' && checked.open_untouched > 0
      ? [`${checked.open_untouched} open drafts lose their deadline and wait for approval.`]
      : []),
    ...(change === 'autopilot' ? ['New drafts are sent automatically at their deadline.'] : []),
  ];
  return (
    <List size="sm" spacing={4}>
      {lines.map((line) => (
        <List.Item key={line}>{line}</List.Item>
      ))}
    </List>
  );
}
