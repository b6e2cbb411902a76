import { Alert, Group, List, Stack, Text, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Pencil } from 'lucide-react';
import type { ReactNode } from 'react';
import type { SequenceDetails, SequenceVersion } from '@beckon/contract/dashboard';
import { useApi, useMay, useProject } from '../../api/index.ts';
import { Loaded, Page, Sentence } from '../../parts/index.ts';
import { StepList } from './step-list.tsx';
import { endWords } from '../../parts/end-words.ts';
import { TextLink } from '../../parts/text-link.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { Titled } from '../../parts/titled.tsx';
import { Muted } from '../../parts/muted.tsx';
import { Bullets } from '../../parts/bullets.tsx';

const route = getRouteApi('/p/$project/sequences/$rule');

export function SequenceScreen(): ReactNode {
  const { rule } = route.useParams();
  const { id } = useProject();
  const mayEdit = useMay('editor');
  const sequence = useApi('GET /projects/:project/sequences/:rule', { params: { rule } });
  const details = sequence.data?.data;
  const params = { project: String(id), rule };
  return (
    <Page
      title={details?.name ?? 'Sequence'}
      actions={
        mayEdit && (
          <LinkButton
            leftSection={<Pencil size={16} aria-hidden="true" />}
            to="/p/$project/rules/$rule"
            params={params}
            search={{ tab: 'rule' }}
          >
            Edit steps
          </LinkButton>
        )
      }
    >
      <Loaded query={sequence}>{({ data }) => <SequenceView sequence={data} params={params} />}</Loaded>
    </Page>
  );
}

type Props = { sequence: SequenceDetails; params: { project: string; rule: string } };

function SequenceView({ sequence, params }: Props): ReactNode {
  const { versions, sentence, in_older_versions: older } = sequence;
  return (
    <Stack gap="lg" maw={860}>
      <Text size="sm">
        <Sentence text={sentence} />
      </Text>
      {older > 0 && (
        <Alert color="gray" title={`${older} runs use an older version`}>
          They continue in the version in which they started. An edit does not move them. You can{' '}
          <TextLink to="/p/$project/rules/$rule" params={params} search={{ tab: 'people' }}>
            move runs manually
          </TextLink>{' '}
          if both versions are equal so far.
        </Alert>
      )}
      {versions.map((version) => (
        <Version key={version.version} version={version} />
      ))}
      <Ends sequence={sequence} />
    </Stack>
  );
}

function Version({ version }: { version: SequenceVersion }): ReactNode {
  const { version: number, is_present: isPresent, users: people } = version;
  return (
    <section>
      <Group gap="sm" mb="xs">
        <Title order={2} size="h5">
          Version {number}
          {isPresent ? ' (current)' : ''}
        </Title>
        <Muted>
          {people === 0 ? 'no runs' : `${people.toLocaleString('en-GB')} ${people === 1 ? 'run' : 'runs'}`}
        </Muted>
      </Group>
      <StepList version={version} />
    </section>
  );
}

function Ends({ sequence: { exits, goal, ended } }: { sequence: SequenceDetails }): ReactNode {
  const counts = Object.entries(ended).toSorted(([, a], [, b]) => b - a);
  return (
    <>
      <Titled title="Exit conditions">
        <List size="sm" spacing={2}>
          {exits.map((exit) => (
            <List.Item key={exit}>When {exit}</List.Item>
          ))}
          {goal !== null && <List.Item>When the goal is reached: {goal}</List.Item>}
          {exits.length === 0 && goal === null && <List.Item>None: runs end after the last step</List.Item>}
        </List>
      </Titled>
      {counts.length > 0 && (
        <Titled title="Completed and ended runs">
          <Bullets
            items={counts.map(([reason, count]) => `${count.toLocaleString('en-GB')} ${endWords(reason)}`)}
          />
        </Titled>
      )}
    </>
  );
}
