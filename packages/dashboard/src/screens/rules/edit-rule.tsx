import { Alert, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { RuleDetails } from '@beckon/contract/dashboard';
import { useMay } from '../../api/index.ts';
import { later, SaveBar, WhenOpened } from '../../parts/index.ts';
import { isChanged, useRuleDraft } from './rule-draft.ts';
import { FactsContext, useRuleFacts } from './facts.ts';
import { RuleForm } from './rule-form.tsx';
import { useWhenChecked } from './use-when-checked.ts';
import type { SaveRequest } from './save-dialog.tsx';
import { type Checked, useChecked } from './use-checked.ts';

const SaveDialog = later(() => import('./save-dialog.tsx'), 'SaveDialog', null);

const route = getRouteApi('/p/$project/rules/$rule');

/** Edits a rule. Saving first shows its effects. */
export function EditRule({ rule }: { rule: RuleDetails }): ReactNode {
  const mayEdit = useMay('editor');
  const { value: document, change, forget, base } = useRuleDraft(rule);
  const { view = 'flow' } = route.useSearch();
  const navigate = route.useNavigate();
  const [saving, setSaving] = useState<SaveRequest | null>(null);
  const [resets, setResets] = useState(0);
  const discard = (): void => {
    forget();
    setResets(resets + 1);
  };
  const checking = useChecked(document, rule.id);
  const { checked } = checking;
  const facts = useRuleFacts(checked?.faults ?? [], !mayEdit);
  const dirty = isChanged(rule, document);
  const close = (): void => setSaving(null);
  const open = (): void => {
    if (checked === null || checked.faults.length > 0) return;
    const onSaved = (): void => {
      forget();
      close();
    };
    setSaving({ rule, document, base, checked, onClose: close, onSaved });
  };
  const save = useWhenChecked(checking, open);
  return (
    <FactsContext value={facts}>
      <Stack gap="md">
        {dirty && base !== rule.updated_at && <SavedMeanwhile rule={rule} />}
        <RuleForm
          key={resets}
          document={document}
          onChange={change}
          view={view}
          onView={(next) => void navigate({ search: (was) => ({ ...was, view: next }), replace: true })}
          rule={rule}
          checking={checking}
        />
        <SaveBar
          dirty={dirty}
          saving={save.isPending}
          onSave={save.run}
          onDiscard={discard}
          note={noteOf(checking, rule)}
          label="Save rule…"
        />
        <WhenOpened opened={saving !== null}>
          <SaveDialog saving={saving} onClose={close} />
        </WhenOpened>
      </Stack>
    </FactsContext>
  );
}

/** Typed text stays. Saving is refused, so that another member's change is not lost. */
function SavedMeanwhile({ rule }: { rule: RuleDetails }): ReactNode {
  return (
    <Alert color="orange.9" title={`Version ${rule.version} was saved while you were editing`}>
      Your changes are still here. See “Versions” for the other changes, or discard yours to continue from
      there.
    </Alert>
  );
}

function noteOf({ checked, isChecking, error }: Checked, rule: RuleDetails): string {
  if (error !== null) return 'The rule could not be checked';
  if (isChecking || checked === null) return 'Checking the rule…';
  if (checked.faults.length > 0) return 'Fix the errors above to save';
  return checked.new_version ? `Creates version ${rule.version + 1}` : 'Unsaved changes';
}
