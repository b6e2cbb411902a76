import { Alert, Button, List, Modal, Stack, Switch, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { RuleChecked, RuleDocument, RuleShown } from '@beckon/contract/dashboard';
import { type ReadKey, useChange } from '../../api/index.ts';
import { DialogFoot, ErrorBox, told } from '../../parts/index.ts';
import { WordDiff } from '../../parts/word-diff.tsx';

export type Saving = {
  rule: RuleShown;
  document: RuleDocument;
  /** When the rule was saved that was edited. */
  base: string;
  checked: RuleChecked;
  onClose: () => void;
  onSaved: (rule: RuleShown) => void;
};

/** What saving would do, before it is done: the difference in words, and what becomes of drafts and people inside. */
export function SaveDialog({ saving, onClose }: { saving: Saving | null; onClose: () => void }): ReactNode {
  return (
    <Modal opened={saving !== null} onClose={onClose} title="Save this rule?" size="lg">
      {saving && <SaveForm {...saving} />}
    </Modal>
  );
}

function SaveForm({ rule, document, base, checked, onClose, onSaved }: Saving): ReactNode {
  const [includeOpen, setIncludeOpen] = useState(false);
  const change = modeChange(rule, document);
  const save = useChange('PUT /projects/:project/rules/:rule', {
    refreshes: REFRESHED,
    onDone: ({ data }) => {
      told(data.drafts > 0 ? `Saved; ${data.drafts} open drafts follow` : 'Saved');
      onSaved(data.rule);
    },
  });
  return (
    <Stack gap="md">
      {checked.new_version && (
        <>
          <Text size="sm">Version {rule.version + 1} will say:</Text>
          <WordDiff
            before={checked.sentence_before ?? ''}
            after={checked.sentence ?? ''}
            label="What changes"
          />
        </>
      )}
      <Consequences rule={rule} checked={checked} change={change} />
      {change === 'autopilot' && checked.open_untouched > 0 && (
        <Switch
          checked={includeOpen}
          onChange={({ currentTarget }) => setIncludeOpen(currentTarget.checked)}
          label={`The ${checked.open_untouched} open drafts get a deadline too`}
          description="Otherwise they go on waiting for a person."
        />
      )}
      {save.error && <ErrorBox error={save.error} title="Not saved" />}
      {save.error?.status === 409 && (
        <Alert color="orange.9" title="What you wrote is still here">
          Look at “Versions” for what was changed; discard yours to go on from there.
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
  'GET /projects/:project/sequences',
];

type ModeChange = 'autopilot' | 'draft' | 'none';

function modeChange(rule: RuleShown, document: RuleDocument): ModeChange {
  const mode = document['mode'] === 'draft' ? 'draft' : 'autopilot';
  return mode === rule.mode ? 'none' : mode;
}

function Consequences({
  rule,
  checked,
  change,
}: Pick<Saving, 'rule' | 'checked'> & { change: ModeChange }): ReactNode {
  const lines = [
    ...(checked.new_version && checked.under_way > 0
      ? [`${checked.under_way} people under way go on in the version in which they began.`]
      : []),
    ...(checked.new_version && rule.enrollment?.state === 'running'
      ? ['The running enrollment of members is cancelled.']
      : []),
    ...(checked.new_version ? [] : [`It says the same as version ${rule.version}: no new version is made.`]),
    ...(change === 'draft' && checked.open_untouched > 0
      ? [`${checked.open_untouched} open drafts lose their deadline at once: only a person sends them.`]
      : []),
    ...(change === 'autopilot' ? ['New drafts leave by themselves after their deadline.'] : []),
  ];
  return (
    <List size="sm" spacing={4}>
      {lines.map((line) => (
        <List.Item key={line}>{line}</List.Item>
      ))}
    </List>
  );
}
