import { Button, Group, Stack, Switch, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { RuleDocument } from '@beckon/contract/dashboard';
import { useChange, useProject } from '../../api/index.ts';
import { ErrorBox, Page, notify, useKept } from '../../parts/index.ts';
import { newRule } from './document.ts';
import { FactsContext, useRuleFacts } from './facts.ts';
import { RuleForm } from './rule-form.tsx';
import { RuleSummary } from './rule-summary.tsx';
import { useChecked } from './use-checked.ts';

const route = getRouteApi('/p/$project/rules/$rule');

/** A new rule needs an event, a subject and a text; everything else has a default. */
export function NewRule(): ReactNode {
  const { event } = route.useSearch();
  const { id: project } = useProject();
  const navigate = route.useNavigate();
  const start = newRule(event, event === undefined ? '' : `After ${event}`);
  const [document, setDocument, letGo] = useKept<RuleDocument>(`new-rule:${project}:${event ?? ''}`, start);
  const [view, setView] = useState<'form' | 'json'>('form');
  const [isOn, setOn] = useState(true);
  const checking = useChecked(document, null);
  const create = useChange('POST /projects/:project/rules', {
    refreshes: ['GET /projects/:project/rules', 'GET /projects/:project/sequences'],
    onDone: ({ data }) => {
      letGo();
      notify(`${data.name} created${data.on ? ' and turned on' : ''}`);
      void navigate({
        to: '/p/$project/rules/$rule',
        params: { project: String(project), rule: data.id },
        search: {},
      });
    },
  });
  const faults =
    create.error?.errors ?? (isUntouched(document, start) ? [] : (checking.checked?.faults ?? []));
  const facts = useRuleFacts(faults, false);
  return (
    <Page title="New rule">
      <FactsContext value={facts}>
        <Stack gap="md" maw={860}>
          {isUntouched(document, start) ? <Begin /> : <RuleSummary {...checking} />}
          <RuleForm document={document} onChange={setDocument} view={view} onView={setView} />
          {create.error && <ErrorBox error={create.error} title="Rule not created" />}
          <Group justify="space-between" gap="sm">
            <Switch
              label="Turn on now"
              description="Past events do not trigger the rule."
              checked={isOn}
              onChange={({ currentTarget }) => setOn(currentTarget.checked)}
            />
            <Group gap="xs">
              <Button variant="default" onClick={letGo}>
                Start over
              </Button>
              <Button
                loading={create.isPending}
                onClick={() => create.mutate({ body: { document, on: isOn } })}
              >
                Create rule
              </Button>
            </Group>
          </Group>
          <Text size="xs" c="dimmed">
            Each draft waits for approval until you turn on autopilot.
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
