import { Anchor, Badge, Button, Group, List, Paper, Stack, Text, Title } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { PencilLine } from 'lucide-react';
import type { ReactNode } from 'react';
import type { EditChange, RuleEdits, RuleShown } from '@beckon/contract/dashboard';
import { useApi, useMay, useProject } from '../../api/index.ts';
import { Empty, Loaded } from '../../parts/index.ts';
import { WordDiff } from '../../parts/word-diff.tsx';
import { keepProposal } from './proposal.ts';

type Proposal = RuleEdits['proposals'][number];

/** What people change again and again in its drafts, and the letter with that in it; a person applies it, or nobody. */
export function Edits({ rule }: { rule: RuleShown }): ReactNode {
  const edits = useApi('GET /projects/:project/rules/:rule/edits', { params: { rule: rule.id } });
  return <Loaded query={edits}>{({ data }) => <Found edits={data} rule={rule} />}</Loaded>;
}

function Found({ edits, rule }: { edits: RuleEdits; rule: RuleShown }): ReactNode {
  const { changes, proposals, drafts, edited } = edits;
  if (changes.length === 0)
    return (
      <Empty icon={PencilLine} title="Nothing recurs in what people change">
        {edited === 0
          ? `Of its last ${drafts} drafts nobody has edited any.`
          : `${edited} of its last ${drafts} drafts were edited, each in another way.`}
      </Empty>
    );
  return (
    <Stack gap="lg">
      <Text size="sm" c="dimmed">
        {edited} of its last {drafts} drafts were edited.
      </Text>
      <section>
        <Title order={2} size="h6" mb="xs">
          What people change
        </Title>
        <List size="sm" spacing={6}>
          {changes.map((change) => (
            <Change
              key={`${change.template} ${change.part} ${change.kind} ${change.before} ${change.after}`}
              change={change}
            />
          ))}
        </List>
      </section>
      {proposals.map((proposal) => (
        <Proposed key={`${proposal.template} ${proposal.part}`} proposal={proposal} rule={rule} />
      ))}
    </Stack>
  );
}

function Change({ change }: { change: EditChange }): ReactNode {
  const project = String(useProject().id);
  const [first] = change.drafts;
  return (
    <List.Item>
      <Group gap="xs">
        <Badge variant="default" size="sm">
          {change.count} of {change.of}
        </Badge>
        <span>{change.sentence}</span>
        {first !== undefined && (
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link to="/p/$project/drafts/$draft" params={{ project, draft: first }} {...props} />
            )}
          >
            one of them
          </Anchor>
        )}
      </Group>
    </List.Item>
  );
}

function Proposed({ proposal, rule }: { proposal: Proposal; rule: RuleShown }): ReactNode {
  const mayEdit = useMay('editor');
  const { id: project } = useProject();
  const navigate = useNavigate();
  const { template: letter, part, before, after, changes } = proposal;
  const apply = (): void => {
    keepProposal(proposal, rule);
    const params = { project: String(project) };
    if (letter === null)
      void navigate({
        to: '/p/$project/rules/$rule',
        params: { ...params, rule: rule.id },
        search: { tab: 'rule' },
      });
    else void navigate({ to: '/p/$project/templates/$template', params: { ...params, template: letter } });
  };
  return (
    <Paper withBorder p="md">
      <Group justify="space-between" mb="sm" gap="sm">
        <Title order={2} size="h6">
          {letter === null ? `The ${part} in the rule` : `The ${part} of ${letter}`}, with {changes}{' '}
          {changes === 1 ? 'change' : 'changes'}
        </Title>
        {mayEdit && (
          <Button size="compact-sm" onClick={apply}>
            Open with this in it
          </Button>
        )}
      </Group>
      <WordDiff before={before} after={after} label={`The ${part}`} />
    </Paper>
  );
}
