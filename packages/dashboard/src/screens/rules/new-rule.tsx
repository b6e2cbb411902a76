import { Button, Group, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import type { RuleDocument } from '@beckon/contract/dashboard';
import { useChange, useProject } from '../../api/index.ts';
import { ErrorBox, Page, notify, useKept } from '../../parts/index.ts';
import { newRule } from './document.ts';
import { FactsContext, useRuleFacts } from './facts.ts';
import { RuleForm } from './rule-form.tsx';
import { RuleSummary } from './rule-summary.tsx';
import { focusFault } from './fault-list.tsx';
import { useChecked } from './use-checked.ts';
import { useWhenChecked } from './use-when-checked.ts';

const route = getRouteApi('/p/$project/rules/$rule');

/** A new rule needs an event, a subject and a text; everything else has a default. */
export function NewRule(): ReactNode {
  const { event } = route.useSearch();
  const { id: project } = useProject();
  const navigate = route.useNavigate();
  const start = newRule(event, event === undefined ? '' : `After ${event}`);
  const [document, setDocument, letGo] = useKept<RuleDocument>(`new-rule:${project}:${event ?? ''}`, start);
  const [view, setView] = useState<'form' | 'json'>('form');
  const [attempts, setAttempts] = useState(0);
  useEffect(() => {
    if (attempts > 0) focusFault();
  }, [attempts]);
  const checking = useChecked(document, null);
  const create = useChange('POST /projects/:project/rules', {
    refreshes: ['GET /projects/:project/rules', 'GET /projects/:project/sequences'],
    onDone: ({ data }) => {
      letGo();
      notify(`${data.name} created. Run a backtest, then enable it.`);
      void navigate({
        to: '/p/$project/rules/$rule',
        params: { project: String(project), rule: data.id },
        search: { tab: 'backtest' },
      });
    },
  });
  const isShown = attempts > 0 || !isUntouched(document, start);
  const faults = isShown ? (checking.checked?.faults ?? []) : [];
  const change = (next: RuleDocument): void => {
    setDocument(next);
    create.reset();
  };
  const submit = useWhenChecked(checking, () => {
    if ((checking.checked?.faults.length ?? 0) === 0) create.mutate({ body: { document } });
    else setAttempts(attempts + 1);
  });
  const facts = useRuleFacts(faults, false);
  return (
    <Page title="New rule">
      <FactsContext value={facts}>
        <Stack gap="md" maw={860}>
          {isShown || checking.error ? <RuleSummary {...checking} /> : <Begin />}
          <RuleForm document={document} onChange={change} view={view} onView={setView} />
          {create.error && <ErrorBox error={create.error} title="Rule not created" />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={letGo}>
              Start over
            </Button>
            <Button loading={submit.isPending || create.isPending} onClick={submit.run}>
              Create rule
            </Button>
          </Group>
          <Text size="xs" c="dimmed">
            A new rule is disabled. Run a backtest, then enable it.
          </Text>
        </Stack>
      </FactsContext>
    </Page>
  );
}

function Begin(): ReactNode {
  return (
    <Text size="sm" c="dimmed">
      Set the trigger and write the email. A summary of the rule appears here as you type.
    </Text>
  );
}

/** A form shows no errors before the first input. */
function isUntouched(document: RuleDocument, start: RuleDocument): boolean {
  return JSON.stringify(document) === JSON.stringify(start);
}
