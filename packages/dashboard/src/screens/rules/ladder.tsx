import { Alert, Button, Group, Text } from '@mantine/core';
import { Sparkles, TrendingDown } from 'lucide-react';
import type { ReactNode } from 'react';
import type { RuleShown } from '@beckon/contract/dashboard';
import { type ReadKey, useChange, useMay } from '../../api/index.ts';
import { refused, undoable, When } from '../../parts/index.ts';

const REFRESHED: ReadKey[] = [
  'GET /projects/:project/rules',
  'GET /projects/:project/rules/:rule',
  'GET /projects/:project/rules/:rule/versions',
];

/** What the rule has earned, one click to give it, and one to take it back. Nothing climbs by itself. */
export function Ladder({ rule }: { rule: RuleShown }): ReactNode {
  const mayEdit = useMay('editor');
  const { suggestion, demoted, alarm } = rule;
  const [set, isSetting] = useMode(rule);
  const isAutopilot = rule.mode === 'autopilot';
  return (
    <>
      {alarm && (
        <Alert color="red.9" mb="md" title="This rule has gone quiet">
          {alarm.message}
        </Alert>
      )}
      {demoted && !isAutopilot && (
        <Alert color="orange.9" mb="md" icon={<TrendingDown size={18} />} title="It lost its autopilot">
          {demoted.why}, <When at={demoted.at} style="relative" />. A person sends each of its letters until
          you give it back.
        </Alert>
      )}
      {suggestion && (
        <Alert mb="md" icon={<Sparkles size={18} />} title="Suggested">
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
          <Text size="sm" c="dimmed">
            Its letters leave by themselves{rule.sends_after === null ? '' : ` after ${rule.sends_after}`}.
          </Text>
          <Button
            variant="subtle"
            size="compact-sm"
            loading={isSetting}
            onClick={() => set({ mode: 'draft' })}
          >
            Back to draft only
          </Button>
        </Group>
      )}
    </>
  );
}

type Mode = { mode: 'draft' | 'autopilot'; deadline?: string };

/** One click, to be had back for ten seconds; open drafts follow only downwards, where it is about safety. */
function useMode(rule: RuleShown): [(mode: Mode) => void, boolean] {
  const back = useChange('POST /projects/:project/rules/:rule/mode', {
    refreshes: REFRESHED,
    onRefused: (error) => refused(error),
  });
  const set = useChange('POST /projects/:project/rules/:rule/mode', {
    refreshes: REFRESHED,
    onDone: ({ data }) => {
      undoable({
        message: `${rule.name}: ${modeWords(data.rule)}${data.drafts > 0 ? `; ${data.drafts} open drafts follow` : ''}`,
        undo: () => back.mutate({ params: { rule: rule.id }, body: data.before }),
      });
    },
    onRefused: (error) => refused(error),
  });
  return [(body) => set.mutate({ params: { rule: rule.id }, body }), set.isPending];
}

function modeWords({ mode, sends_after: after }: RuleShown): string {
  if (mode === 'draft') return 'a person sends each letter';
  return after === null ? 'autopilot' : `autopilot after ${after}`;
}
