import { Alert, Button, Group, Text } from '@mantine/core';
import { Sparkles, TrendingDown } from 'lucide-react';
import type { ReactNode } from 'react';
import type { RuleDetails } from '@beckon/contract/dashboard';
import { type ReadKey, useChange, useMay } from '../../api/index.ts';
import { refused, undoable, When } from '../../parts/index.ts';
import { Muted } from '../../parts/muted.tsx';

const REFRESHED: ReadKey[] = [
  'GET /projects/:project/rules',
  'GET /projects/:project/rules/:rule',
  'GET /projects/:project/rules/:rule/versions',
];

/** Suggests autopilot or a shorter deadline, and applies or reverts it with one click. The mode never changes automatically. */
export function Ladder({ rule }: { rule: RuleDetails }): ReactNode {
  const mayEdit = useMay('editor');
  const { suggestion, demoted, alarm } = rule;
  const [set, isSetting] = useMode(rule);
  const isAutopilot = rule.mode === 'autopilot';
  return (
    <>
      {alarm && (
        <Alert color="red" variant="outline" mb="md" title="This rule stopped firing">
          {alarm.message}
        </Alert>
      )}
      {demoted && !isAutopilot && (
        <Alert
          color="yellow"
          variant="outline"
          mb="md"
          icon={<TrendingDown size={18} />}
          title="Autopilot was turned off"
        >
          {demoted.why}, <When at={demoted.at} style="relative" />. Each draft waits for approval until you
          turn autopilot on again.
        </Alert>
      )}
      {suggestion && (
        <Alert mb="md" icon={<Sparkles size={18} />} title="Suggestion">
          <Group justify="space-between" gap="sm">
            <Text size="sm">{suggestion.why}.</Text>
            {mayEdit && (
              <Button
                size="compact-sm"
                loading={isSetting}
                onClick={() => set({ mode: 'autopilot', deadline: suggestion.deadline })}
              >
                {suggestion.kind === 'autopilot'
                  ? `Turn on autopilot, ${suggestion.deadline}`
                  : `Wait ${suggestion.deadline} instead`}
              </Button>
            )}
          </Group>
        </Alert>
      )}
      {isAutopilot && rule.on && mayEdit && (
        <Group gap="xs" mb="md">
          <Muted>
            Its emails are sent automatically{rule.sends_after === null ? '' : ` after ${rule.sends_after}`}.
          </Muted>
          <Button
            variant="subtle"
            size="compact-sm"
            loading={isSetting}
            onClick={() => set({ mode: 'draft' })}
          >
            Turn off autopilot
          </Button>
        </Group>
      )}
    </>
  );
}

type Mode = { mode: 'draft' | 'autopilot'; deadline?: string };

/** One click, with undo for ten seconds. Open drafts change only when autopilot is turned off, for safety. */
function useMode(rule: RuleDetails): [(mode: Mode) => void, boolean] {
  const back = useChange('POST /projects/:project/rules/:rule/mode', {
    refreshes: REFRESHED,
    onRefused: (error) => refused(error),
  });
  const set = useChange('POST /projects/:project/rules/:rule/mode', {
    refreshes: REFRESHED,
    onDone: ({ data }) => {
      undoable({
        message: `${rule.name}: ${modeWords(data.rule)}${data.drafts > 0 ? `; applied to ${data.drafts} open drafts` : ''}`,
        undo: () => back.mutate({ params: { rule: rule.id }, body: data.before }),
      });
    },
    onRefused: (error) => refused(error),
  });
  return [(body) => set.mutate({ params: { rule: rule.id }, body }), set.isPending];
}

function modeWords({ mode, sends_after: after }: RuleDetails): string {
  if (mode === 'draft') return 'each draft waits for approval';
  return after === null ? 'autopilot' : `autopilot after ${after}`;
}
