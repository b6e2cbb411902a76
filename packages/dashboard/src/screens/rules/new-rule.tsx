import { Button, Group, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import type { RuleDocument } from '@beckon/contract/dashboard';
import { useChange, useProject } from '../../api/index.ts';
import { ErrorBox, Page, notify, useKept } from '../../parts/index.ts';
import { newRule } from './document.ts';
import { FactsContext, useRuleFacts } from './facts.ts';
import { RuleForm, type RuleView } from './rule-form.tsx';
import { focusFault } from './fault-list.tsx';
import type { FormFault } from './fault-words.ts';
import { type Checked, useChecked } from './use-checked.ts';
import { useWhenChecked } from './use-when-checked.ts';

const route = getRouteApi('/p/$project/rules/$rule');

/** A new rule needs an event, a subject and a text; everything else has a default. */
export function NewRule(): ReactNode {
  const { event } = route.useSearch();
  const { id: project } = useProject();
  const navigate = route.useNavigate();
  const start = newRule(event, event === undefined ? '' : `After ${event}`);
  const [document, setDocument, letGo] = useKept<RuleDocument>(`new-rule:${project}:${event ?? ''}`, start);
  const [view, setView] = useState<RuleView>('form');
  const [attempts, setAttempts] = useState(0);
  useEffect(() => {
    if (attempts > 0) focusFault();
  }, [attempts]);
  const checking = useChecked(document, null);
  const create = useChange('POST /projects/:project/rules', {
    refreshes: ['GET /projects/:project/rules'],
    onDone: ({ data }) => {
      letGo();
      notify(`${data.name} created, disabled. Enable it when it is ready.`);
      void navigate({
        to: '/p/$project/rules/$rule',
        params: { project: String(project), rule: data.id },
        search: {},
      });
    },
  });
  const isShown = attempts > 0 || !isUntouched(document, start);
  const faults = isShown ? faultsOf(checking) : [];
  const change = (next: RuleDocument): void => {
    setDocument(next);
    create.reset();
  };
  const submit = useWhenChecked(checking, () => {
    if (faultsOf(checking).length === 0) create.mutate({ body: { document } });
    else setAttempts(attempts + 1);
  });
  const facts = useRuleFacts(faults, false);
  return (
    <Page title="New rule">
      <FactsContext value={facts}>
        <Stack gap="md" maw={view === 'flow' ? undefined : 860}>
          <RuleForm
            document={document}
            onChange={change}
            view={view}
            onView={setView}
            rule={null}
            checking={withFaults(checking, faults)}
            {...(isShown || checking.error ? {} : { begin: <Begin /> })}
          />
          {create.error && <ErrorBox error={create.error} title="Rule not created" />}
          <Foot onReset={letGo} onCreate={submit.run} isPending={submit.isPending || create.isPending} />
        </Stack>
      </FactsContext>
    </Page>
  );
}

type FootProps = { onReset: () => void; onCreate: () => void; isPending: boolean };

function Foot({ onReset, onCreate, isPending }: FootProps): ReactNode {
  return (
    <>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onReset}>
          Start over
        </Button>
        <Button loading={isPending} onClick={onCreate}>
          Create rule
        </Button>
      </Group>
      <Text size="xs" c="dimmed">
        A new rule is disabled. Enabling it shows a backtest first.
      </Text>
    </>
  );
}

function Begin(): ReactNode {
  return (
    <Text size="sm" c="dimmed">
      Set the trigger and write the email. A summary of the rule appears here as you type.
    </Text>
  );
}

function faultsOf({ checked }: Checked): FormFault[] {
  return checked?.faults ?? [];
}

function withFaults(checking: Checked, faults: FormFault[]): Checked {
  return { ...checking, checked: checking.checked && { ...checking.checked, faults } };
}

/** A form shows no errors before the first input. */
function isUntouched(document: RuleDocument, start: RuleDocument): boolean {
  return JSON.stringify(document) === JSON.stringify(start);
}
