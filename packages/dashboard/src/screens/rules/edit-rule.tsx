import { Alert, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { RuleDocument, RuleDetails } from '@beckon/contract/dashboard';
import { useMay } from '../../api/index.ts';
import { type Edited, SaveBar, useEdited } from '../../parts/index.ts';
import { FactsContext, useRuleFacts } from './facts.ts';
import { RuleForm } from './rule-form.tsx';
import { RuleSummary } from './rule-summary.tsx';
import { useWhenChecked } from './use-when-checked.ts';
import { SaveDialog, type SaveRequest } from './save-dialog.tsx';
import { type Checked, useChecked } from './use-checked.ts';

/** The backtest uses the unsaved version too. */
export function useRuleDraft(rule: RuleDetails): Edited<RuleDocument> {
  return useEdited<RuleDocument>(`rule:${rule.id}`, rule.definition, rule.updated_at);
}

export function isChanged(rule: RuleDetails, document: RuleDocument): boolean {
  return JSON.stringify(document) !== JSON.stringify(rule.definition);
}

/** Edits a rule as a form. Saving first shows its effects. */
export function EditRule({ rule }: { rule: RuleDetails }): ReactNode {
  const mayEdit = useMay('editor');
  const { value: document, change, forget, base } = useRuleDraft(rule);
  const [view, setView] = useState<'form' | 'json'>('form');
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
      <Stack gap="md" maw={860}>
        <RuleSummary {...checking} />
        {dirty && base !== rule.updated_at && <SavedMeanwhile rule={rule} />}
        <RuleForm key={resets} document={document} onChange={change} view={view} onView={setView} />
        <SaveBar
          dirty={dirty}
          saving={save.isPending}
          onSave={save.run}
          onDiscard={discard}
          note={noteOf(checking, rule)}
          label="Save rule…"
        />
        <SaveDialog saving={saving} onClose={close} />
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
