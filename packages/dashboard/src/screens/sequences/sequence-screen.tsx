import { Alert, Anchor, Button, Group, List, Stack, Text, Title } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Pencil } from 'lucide-react';
import type { ReactNode } from 'react';
import type { SequenceShown, SequenceVersion } from '@beckon/contract/dashboard';
import { useApi, useMay, useProject } from '../../api/index.ts';
import { Loaded, Page, Sentence } from '../../parts/index.ts';
import { StepList } from './step-list.tsx';

const route = getRouteApi('/p/$project/sequences/$rule');

export function SequenceScreen(): ReactNode {
  const { rule } = route.useParams();
  const { id } = useProject();
  const mayEdit = useMay('editor');
  const sequence = useApi('GET /projects/:project/sequences/:rule', { params: { rule } });
  const shown = sequence.data?.data;
  const params = { project: String(id), rule };
  return (
    <Page
      title={shown?.name ?? 'Sequence'}
      actions={
        mayEdit && (
          <Button
            variant="default"
            leftSection={<Pencil size={16} aria-hidden="true" />}
            renderRoot={(props) => (
              <Link to="/p/$project/rules/$rule" params={params} search={{ tab: 'rule' }} {...props} />
            )}
          >
            Edit steps
          </Button>
        )
      }
    >
      <Loaded query={sequence}>{({ data }) => <Shown sequence={data} params={params} />}</Loaded>
    </Page>
  );
}

type Props = { sequence: SequenceShown; params: { project: string; rule: string } };

function Shown({ sequence, params }: Props): ReactNode {
  const { versions, sentence, in_older_versions: older } = sequence;
  return (
    <Stack gap="lg" maw={860}>
      <Text size="sm">
        <Sentence text={sentence} />
      </Text>
      {older > 0 && (
        <Alert color="gray" title={`${older} people are in an older version`}>
          They go on in the version in which they began. An edit does not move them;{' '}
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link to="/p/$project/rules/$rule" params={params} search={{ tab: 'people' }} {...props} />
            )}
          >
            move them by hand
          </Anchor>{' '}
          where both versions agree so far.
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
          {isPresent ? ', the present one' : ''}
        </Title>
        <Text size="sm" c="dimmed">
          {people === 0 ? 'nobody inside' : `${people.toLocaleString('en-GB')} inside`}
        </Text>
      </Group>
      <StepList version={version} />
    </section>
  );
}

const ENDED: Record<string, string> = {
  done: 'came to the end',
  exit_event: 'ended by an event',
  exit_condition: 'ended by a condition',
  goal: 'came to the goal',
  replaced: 'replaced by a newer one',
  replied: 'answered',
  suppressed: 'suppressed',
  bounced: 'their address does not work',
  erased: 'erased',
  holdout: 'held out',
};

function Ends({ sequence: { exits, goal, ended } }: { sequence: SequenceShown }): ReactNode {
  const counts = Object.entries(ended).toSorted(([, a], [, b]) => b - a);
  return (
    <>
      <section>
        <Title order={2} size="h5" mb="xs">
          What ends it early
        </Title>
        <List size="sm" spacing={2}>
          {exits.map((exit) => (
            <List.Item key={exit}>When {exit}</List.Item>
          ))}
          {goal !== null && <List.Item>When it comes to its goal: {goal}</List.Item>}
          {exits.length === 0 && goal === null && <List.Item>Nothing but its last step</List.Item>}
        </List>
      </section>
      {counts.length > 0 && (
        <section>
          <Title order={2} size="h5" mb="xs">
            How others ended
          </Title>
          <List size="sm" spacing={2}>
            {counts.map(([reason, count]) => (
              <List.Item key={reason}>
                {count.toLocaleString('en-GB')} {ENDED[reason] ?? reason}
              </List.Item>
            ))}
          </List>
        </section>
      )}
    </>
  );
}
