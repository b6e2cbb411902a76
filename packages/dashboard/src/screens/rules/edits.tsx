import { Badge, Button, Group, List, Paper, Stack, Title } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { PencilLine } from 'lucide-react';
import type { ReactNode } from 'react';
import type { EditChange, RuleEdits, RuleDetails } from '@beckon/contract/dashboard';
import { useApi, useMay, useProject } from '../../api/index.ts';
import { Empty, Loaded } from '../../parts/index.ts';
import { WordDiff } from '../../parts/word-diff.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import { keepProposal } from './proposal.ts';
import { Muted } from '../../parts/muted.tsx';

const PARTS = { subject: 'Subject', preheader: 'Preview text', body: 'Body' };

type Proposal = RuleEdits['proposals'][number];

/** Recurring edits of the rule's drafts, and a proposed template with these changes. A member has to apply it. */
export function Edits({ rule }: { rule: RuleDetails }): ReactNode {
  const edits = useApi('GET /projects/:project/rules/:rule/edits', { params: { rule: rule.id } });
  return <Loaded query={edits}>{({ data }) => <Found edits={data} rule={rule} />}</Loaded>;
}

function Found({ edits, rule }: { edits: RuleEdits; rule: RuleDetails }): ReactNode {
  const { changes, proposals, drafts, edited } = edits;
  if (changes.length === 0)
    return (
      <Empty icon={PencilLine} title="No recurring edits">
        {edited === 0
          ? `${noneOf(drafts)} Changes that members make repeatedly appear here.`
          : `${edited} of the last ${drafts} ${drafts === 1 ? 'draft was' : 'drafts were'} edited, each differently. Changes that members make repeatedly appear here.`}
      </Empty>
    );
  return (
    <Stack gap="lg">
      <Muted>
        {edited} of the last {drafts} drafts were edited.
      </Muted>
      <section>
        <Title order={2} size="h6" mb="xs">
          Recurring edits
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

function noneOf(drafts: number): string {
  if (drafts === 0) return 'The rule has no drafts yet.';
  return drafts === 1 ? 'The last draft was not edited.' : `None of the last ${drafts} drafts was edited.`;
}

function Change({ change }: { change: EditChange }): ReactNode {
  const [first] = change.drafts;
  return (
    <List.Item>
      <Group gap="xs">
        <Badge variant="default" size="sm">
          {change.count} of {change.total}
        </Badge>
        <span>{change.sentence}</span>
        {first !== undefined && (
          <TextLink to="/p/$project/drafts/$draft" params={{ draft: first }}>
            Example draft
          </TextLink>
        )}
      </Group>
    </List.Item>
  );
}

function Proposed({ proposal, rule }: { proposal: Proposal; rule: RuleDetails }): ReactNode {
  const mayEdit = useMay('editor');
  const { id: project } = useProject();
  const navigate = useNavigate();
  const { template: email, part, before, after, changes } = proposal;
  const apply = (): void => {
    keepProposal(proposal, rule);
    const params = { project: String(project) };
    if (email === null)
      void navigate({
        to: '/p/$project/rules/$rule',
        params: { ...params, rule: rule.id },
        search: { tab: 'rule', view: 'form' },
      });
    else void navigate({ to: '/p/$project/templates/$template', params: { ...params, template: email } });
  };
  return (
    <Paper withBorder p="md">
      <Group justify="space-between" mb="sm" gap="sm">
        <Title order={2} size="h6">
          {email === null ? `${PARTS[part]} in the rule` : `${PARTS[part]} of ${email}`}, with {changes}{' '}
          {changes === 1 ? 'change' : 'changes'}
        </Title>
        {mayEdit && (
          <Button size="compact-sm" onClick={apply}>
            Open with these changes
          </Button>
        )}
      </Group>
      <WordDiff before={before} after={after} label={PARTS[part]} />
    </Paper>
  );
}
