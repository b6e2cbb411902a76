import { Alert, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { RuleDocument, RuleShown } from '@beckon/contract/dashboard';
import { useMay } from '../../api/index.ts';
import { type Edited, SaveBar, useEdited } from '../../parts/index.ts';
import { FactsContext, useRuleFacts } from './facts.ts';
import { RuleForm } from './rule-form.tsx';
import { RuleSummary } from './rule-summary.tsx';
import { useWhenChecked } from './use-when-checked.ts';
import { SaveDialog, type Saving } from './save-dialog.tsx';
import { useChecked } from './use-checked.ts';

/** What somebody wrote and did not save is found by the backtest too. */
export function useRuleDraft(rule: RuleShown): Edited<RuleDocument> {
  return useEdited<RuleDocument>(`rule:${rule.id}`, rule.definition, rule.updated_at);
}

export function isChanged(rule: RuleShown, document: RuleDocument): boolean {
  return JSON.stringify(document) !== JSON.stringify(rule.definition);
}

/** The rule as a form in sentences; saving shows first what it does. */
export function EditRule({ rule }: { rule: RuleShown }): ReactNode {
  const mayEdit = useMay('editor');
  const { value: document, change, forget, base } = useRuleDraft(rule);
  const [view, setView] = useState<'form' | 'json'>('form');
  const [saving, setSaving] = useState<Saving | null>(null);
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
  const save = useWhenChecked(checking.isChecking, open);
  return (
    <FactsContext value={facts}>
      <Stack gap="md" maw={860}>
        <RuleSummary {...checking} />
        {dirty && base !== rule.updated_at && <SavedMeanwhile rule={rule} />}
        <RuleForm key={resets} document={document} onChange={change} view={view} onView={setView} />
        <SaveBar
          dirty={dirty}
          saving={false}
          onSave={save}
          onDiscard={discard}
          note={noteOf(checking, rule)}
          label="Save…"
        />
        <SaveDialog saving={saving} onClose={close} />
      </Stack>
    </FactsContext>
  );
}

/** What was typed stays; saving it would be refused, so that nobody's change is lost unseen. */
function SavedMeanwhile({ rule }: { rule: RuleShown }): ReactNode {
  return (
    <Alert color="orange.9" title={`Version ${rule.version} was saved while you were writing`}>
      What you wrote is still here. Look at “Versions” for what was changed; discard yours to go on from
      there.
    </Alert>
  );
}

function noteOf({ checked, isChecking }: ReturnType<typeof useChecked>, rule: RuleShown): string {
  if (isChecking || checked === null) return 'Reading the rule…';
  if (checked.faults.length > 0) return 'It cannot be saved yet: see what is wrong above';
  return checked.new_version ? `Makes version ${rule.version + 1}` : 'Not saved yet';
}
